"""Charts inside a page: Vega once, a specification a chart, and a drawing for readers without scripts."""

from __future__ import annotations

import base64
import gzip
import json
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import altair as alt
import vl_convert as vlc
from markupsafe import Markup

from ..text import printable_json
from .page_svg import page_svg
from .theme import ReportChart


@dataclass(frozen=True, slots=True)
class Figure:
    """One chart as the page needs it."""

    id: str
    caption: str
    hint: str
    """What can be done with it; only for those who have scripts."""
    spec: Markup
    svg: Markup


def figure(id: str, chart: ReportChart, caption: str, hint: str = "", *, still: ReportChart | None = None) -> Figure:
    """`chart` in both forms; `caption` is also what a screen reader says of it.

    `still` is drawn for readers without scripts, where `chart` has parts that only answer to a pointer.
    """
    spec = chart.properties(description=caption).to_dict()
    # No reader of the page needs the address of the schema.
    spec.pop("$schema")
    svg = vlc.vegalite_to_svg((chart if still is None else still).to_json(), vl_version=_version())
    return Figure(id, caption, hint, json_for_script(spec), Markup(page_svg(svg, id)))


def json_for_script(value: Any) -> Markup:
    """`value` as JSON that no HTML parser can leave: every <, > and & is escaped."""
    text = printable_json(json.dumps(value, sort_keys=True, separators=(",", ":"), allow_nan=False, ensure_ascii=False))
    return Markup(text.replace("<", "\\u003c").replace(">", "\\u003e").replace("&", "\\u0026"))


@lru_cache(maxsize=1)
def vega_bundle() -> str:
    """Vega, Vega-Lite and Vega-Embed as one script: gzip, in base64, which is half of what the script takes."""
    script = vlc.javascript_bundle("window.vegaEmbed = vegaEmbed;", vl_version=_version())
    return base64.b64encode(gzip.compress(script.encode(), mtime=0)).decode("ascii")


def _version() -> str:
    """The version of Vega-Lite that this Altair writes, as vl-convert names it."""
    return ".".join(alt.SCHEMA_VERSION.lstrip("v").split(".")[:2])
