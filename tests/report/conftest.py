"""Estimates and their reports, each made once: a report takes seconds."""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache

import pytest
from html_reading import Page, read

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
    "calibrated": lambda: bp.estimate("llama-3.1-8b", "h100_80g_sxm", tensor_parallel=2, batch_size=8),
    "calibrated_long": lambda: bp.estimate("llama-3.1-8b", "h100_80g_sxm", batch_size=8, generated_tokens=30_000),
    "no_time": lambda: bp.estimate(
        "llama-3.1-8b", "h100_80g_sxm", prompt_tokens=8, generated_tokens=4, asserted={**NOTHING, "mlp_all_reduce": 0}
    ),
    "hostile": lambda: _hostile(),
}

NOTHING = dict.fromkeys(bp.estimate("llama-3.1-8b", "h100_80g_sxm", generated_tokens=1).components["component"], 0.0)
"""Seconds of every component of one device."""


def _hostile() -> bp.Estimate:
    model, system = bp.load_model("llama-3.1-8b"), bp.load_system("h100_80g_nvl8")
    content = system.model_dump()
    near, far = content.pop("network")
    named = {"name": HOSTILE, "description": HOSTILE, "sources": {"memory": HOSTILE}, "calibrations": []}
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
