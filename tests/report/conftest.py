"""Estimates and their reports, each made once: a report takes seconds."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from functools import lru_cache
from html.parser import HTMLParser

import pytest

import blueprint_nb as bp
from blueprint_nb.report import render_report

HOSTILE = "<script>alert('x')</script>\"&</style>"

CASES: dict[str, Callable[[], bp.Estimate]] = {
    "default": lambda: bp.estimate("llama-3.1-8b", "h100_80g_nvl8", tensor_parallel=2),
    "dense_with_drop": lambda: bp.estimate("phi-2-dense-mha", "a100_80g", prompt_tokens=64, generated_tokens=100),
    "too_large": lambda: bp.estimate("llama-3.1-405b", "h100_80g_sxm", mode="peak-only", generated_tokens=8),
    "one_token": lambda: bp.estimate("llama-3.1-8b", "h100_80g_nvl8", generated_tokens=1),
    "one_step": lambda: bp.estimate("llama-3.1-8b", "h100_80g_nvl8", generated_tokens=2),
    "long": lambda: bp.estimate("llama-3.1-8b", "h100_80g_nvl8", batch_size=8, generated_tokens=30_000),
    "largest": lambda: bp.estimate(
        "llama-3.1-405b",
        "h100_80g_nvl8",
        tensor_parallel=8,
        pipeline_parallel=2,
        batch_size=64,
        prompt_tokens=4096,
        generated_tokens=20_000,
    ),
    "hostile": lambda: _hostile(),
}


def _hostile() -> bp.Estimate:
    model, system = bp.load_model("llama-3.1-8b"), bp.load_system("h100_80g_nvl8")
    content = system.model_dump()
    near, far = content.pop("network")
    named = {"name": HOSTILE, "description": HOSTILE, "sources": {"memory": HOSTILE}}
    return bp.estimate(
        bp.TransformerModelSpec(**{**model.model_dump(), "name": HOSTILE}),
        bp.SystemProfile(**{**content, **named, "network": [{**near, "name": HOSTILE}, far]}),
        tensor_parallel=2,
        generated_tokens=4,
    )


@lru_cache
def made(case: str) -> bp.Estimate:
    return CASES[case]()


@lru_cache
def rendered(case: str) -> str:
    return render_report(made(case))


@pytest.fixture(scope="session")
def estimate_of() -> Callable[[str], bp.Estimate]:
    return made


@pytest.fixture(scope="session")
def html_of() -> Callable[[str], str]:
    return rendered


@pytest.fixture(scope="session")
def page_of() -> Callable[[str], Page]:
    return lambda case: read(rendered(case))


@dataclass
class Element:
    tag: str
    attributes: dict[str, str | None]
    text: str = ""


@dataclass
class Page:
    """Elements of a page in document order; text belongs to every element it stands in."""

    elements: list[Element] = field(default_factory=list)

    def all(self, tag: str, **attributes: str) -> list[Element]:
        return [e for e in self.elements if e.tag == tag and attributes.items() <= e.attributes.items()]

    def rows(self, label: str) -> list[list[str]]:
        """Cells of the table in the region, or with the name, `label`."""
        inside = False
        found: list[list[str]] = []
        for element in self.elements:
            if "aria-label" in element.attributes and element.tag in ("div", "table"):
                inside = element.attributes["aria-label"] == label
            if inside and element.tag == "tr":
                found.append([])
            if inside and element.tag in ("th", "td"):
                found[-1].append(element.text.strip())
        return found


class _Reader(HTMLParser):
    VOID = frozenset({"meta", "br", "img", "link", "input", "hr"})

    def __init__(self) -> None:
        super().__init__()
        self.page = Page()
        self._open: list[Element] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        element = Element(tag, dict(attrs))
        self.page.elements.append(element)
        if tag not in self.VOID:
            self._open.append(element)

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.page.elements.append(Element(tag, dict(attrs)))

    def handle_endtag(self, tag: str) -> None:
        while self._open and self._open.pop().tag != tag:
            pass

    def handle_data(self, data: str) -> None:
        for element in self._open:
            element.text += data


def read(html: str) -> Page:
    reader = _Reader()
    reader.feed(html)
    return reader.page
