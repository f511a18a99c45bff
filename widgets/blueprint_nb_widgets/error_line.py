"""Errors of callbacks, in one sentence under the widget, because Jupyter itself drops them unseen."""

from __future__ import annotations

import traceback
from collections.abc import Iterator
from contextlib import contextmanager

import ipywidgets

from blueprint_nb import BlueprintError

from .markup import escape


class ErrorLine(ipywidgets.HTML):
    """Empty until something fails; what failed stays until `clear`."""

    def __init__(self) -> None:
        super().__init__()
        self.add_class("bp-error-line")

    @contextmanager
    def catching(self) -> Iterator[None]:
        """Shows what is raised inside. One of the project's own errors says all there is to say; others are faults."""
        try:
            yield
        except BlueprintError as error:
            self._show(str(error))
        except Exception as error:
            sentence = f"{type(error).__name__}: {error}. This is a fault of blueprint-nb: please report it."
            self._show(sentence, traceback.format_exc())

    def clear(self) -> None:
        """Nothing is wrong any more."""
        self.value = ""

    def _show(self, sentence: str, details: str = "") -> None:
        more = f"<details><summary>Details</summary><pre>{escape(details)}</pre></details>" if details else ""
        self.value = f'<div class="bp-error" role="alert"><b>✕</b> {escape(sentence)}{more}</div>'
