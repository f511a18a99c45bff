"""The self-contained HTML report, and the charts it shares with the explorer.

What draws is imported when it is used: the engine alone has neither Altair nor Jinja2.
"""

from .saved_inputs import read_inputs
from .write import render_report, write_report

__all__ = ["read_inputs", "render_report", "write_report"]
