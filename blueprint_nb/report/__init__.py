"""The self-contained HTML report, the page of an experiment, and the charts they share with the explorer.

What draws is imported when it is used: the engine alone has neither Altair nor Jinja2.
"""

from .saved_inputs import read_inputs
from .write import render_error_page, render_report, write_error_page, write_report

__all__ = ["read_inputs", "render_error_page", "render_report", "write_error_page", "write_report"]
