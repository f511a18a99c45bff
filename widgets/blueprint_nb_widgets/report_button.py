"""The button that writes the HTML report next to the notebook, and the link to it."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import ipywidgets

from blueprint_nb import Estimate

from .error_line import ErrorLine
from .markup import escape

# In a browser tab, before JupyterLab takes the click: its own viewer of HTML files runs no scripts before it is told to
# trust the file.
_OPEN = "event.stopImmediatePropagation(); window.open(this.href, '_blank'); return false"


class ReportButton(ipywidgets.Button):
    """Writes to the kernel's working folder, which is the notebook's."""

    def __init__(self, current: Callable[[], Estimate], errors: ErrorLine) -> None:
        super().__init__(description="Report", tooltip="write this result as an HTML file next to the notebook")
        self._current = current
        self._errors = errors
        self.line = ipywidgets.Output()
        self.line.add_class("bp-report-line")
        self.on_click(self._write)

    def _write(self, button: Any) -> None:
        self.disabled, self.description = True, "Writing…"
        with self._errors.catching():
            estimate = self._current()
            self._show(estimate.report(file_name(estimate)))
        self.disabled, self.description = False, "Report"

    def _show(self, path: Path) -> None:
        # An output, not an HTML widget: JupyterLab resolves links of outputs against the notebook's folder.
        name = escape(path.name)
        link = f'<a href="{name}" target="_blank" onclick="{_OPEN}">{name}</a>'
        html = f'<span class="bp-report">Report written: {link}</span>'
        text = f"Report written: {path.name}"
        self.line.outputs = (
            {"output_type": "display_data", "data": {"text/html": html, "text/plain": text}, "metadata": {}},
        )


def file_name(estimate: Estimate) -> str:
    """Says what it is a report of: report-llama-3.1-8b-h100_80g_nvl8-tp1-pp1-b1-1024+128.html."""
    inputs, request = estimate.inputs, estimate.inputs.request
    parts = (
        "report",
        inputs.model.name,
        inputs.system.name,
        f"tp{inputs.mapping.tensor_parallel}",
        f"pp{inputs.mapping.pipeline_parallel}",
        f"b{request.batch_size}",
        f"{request.prompt_tokens}+{request.generated_tokens}",
    )
    return "-".join(re.sub(r"[^A-Za-z0-9._+=]+", "-", part).strip("-.") for part in parts)[:150] + ".html"
