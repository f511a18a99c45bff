"""What every page shares: the template's environment, the version, and Vega. Needs vl-convert and Jinja2."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import jinja2
from markupsafe import Markup

from ..text import printable
from ..version import __version__
from .embedding import vega_bundle
from .mode_style import is_hollow


def rendered(template: str, content: Mapping[str, Any]) -> str:
    """The HTML text of a page; `content` has at least its `title`."""
    environment = jinja2.Environment(
        loader=jinja2.PackageLoader("blueprint_nb.report"),
        autoescape=True,
        undefined=jinja2.StrictUndefined,
        finalize=_shown,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
    )
    environment.tests["hollow"] = is_hollow
    return environment.get_template(template).render({**content, "version": __version__, "vega": vega_bundle()})


def _shown(value: Any) -> Any:
    """Names are other people's: no text of a page turns the order of signs around."""
    if isinstance(value, Markup):
        return Markup(printable(value))
    return printable(value) if isinstance(value, str) else value
