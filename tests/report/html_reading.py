"""Pages as their elements, to ask what a reader finds."""

from __future__ import annotations

from dataclasses import dataclass, field
from html.parser import HTMLParser


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
