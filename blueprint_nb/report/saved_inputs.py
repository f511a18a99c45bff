"""The inputs inside a report, so that what it shows can be computed again."""

from __future__ import annotations

import json
from html.parser import HTMLParser
from pathlib import Path
from typing import Any, Final

from .._canonical import plain
from ..analysis import RequestInputs
from ..errors import InvalidInputError
from ..version import __version__

SCHEMA: Final = "blueprint-nb/report-inputs/1"
ELEMENT_ID: Final = "blueprint-nb-inputs"


def saved_inputs(inputs: RequestInputs) -> dict[str, Any]:
    """JSON data of `inputs`, sources and provenance too."""
    return {"schema": SCHEMA, "version": __version__, "inputs": plain(inputs.model_dump(exclude_unset=True))}


def read_inputs(path: Path) -> RequestInputs:
    """The inputs of the report at `path`, for `analysis.estimate_request`.

    Raises `InvalidInputError` where there is no report, or none with inputs.
    """
    finder = _Finder()
    try:
        finder.feed(Path(path).read_text(encoding="utf-8"))
        saved = json.loads(finder.text)
        if saved["schema"] != SCHEMA:
            raise InvalidInputError("schema", got=str(saved["schema"]), rule=f"must be {SCHEMA}")
        return RequestInputs(**saved["inputs"])
    except InvalidInputError as error:
        raise error.under(str(path)) from None
    except (OSError, ValueError, KeyError, TypeError) as error:
        reason = getattr(error, "strerror", None) or "there are no inputs in it"
        raise InvalidInputError(
            str(path), rule=f"can't be read as a report: {reason}", next_step="Name a file that write_report made."
        ) from None


class _Finder(HTMLParser):
    """Collects the text of the element that holds the inputs."""

    def __init__(self) -> None:
        super().__init__()
        self.text = ""
        self._is_inside = False

    def handle_starttag(self, tag: str, attributes: list[tuple[str, str | None]]) -> None:
        self._is_inside = tag == "script" and ("id", ELEMENT_ID) in attributes

    def handle_endtag(self, tag: str) -> None:
        self._is_inside = False

    def handle_data(self, data: str) -> None:
        if self._is_inside:
            self.text += data
