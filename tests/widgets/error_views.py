"""Experiments whose errors are shown, and ways to read the table."""

from __future__ import annotations

import html
import re

import vidur_profiles as profiles
from blueprint_nb_widgets import VidurErrorTable

PHI = {"model": "phi-2-dense-mha"}
GOLDEN = (
    profiles.case("decode b1 c33", context_tokens=33, **PHI),
    profiles.case("decode b1 c129", context_tokens=129, **PHI),
    profiles.case("prefill b1 128", context_tokens=128, phase="prefill", **PHI),
)
_MATRICES = ("attn_pre_proj", "attn_post_proj", "mlp_up_proj", "mlp_down_proj")
MEASURED = {**profiles.COMPUTE, **profiles.times(*profiles.SERIAL), **profiles.times(*_MATRICES, ms=0.1)}
"""A row of Llama-2-7b's compute file, with times that its kernels may take on an A100."""


def rows_of(table: VidurErrorTable) -> dict[str, list[str]]:
    """The texts of each row's cells, by the row's heading."""
    body = table.table.value.split("</thead>")[1]
    rows = {}
    for row in re.findall(r"<tr>(.*?)</tr>", body):
        heading, *cells = [text_of(cell) for cell in re.findall(r"<t[hd][^>]*>(.*?)</t[hd]>", row)]
        rows[heading] = cells
    return rows


def text_of(markup: str) -> str:
    """What a reader sees of HTML."""
    return html.unescape(re.sub(r"<[^>]*>", "", markup)).replace("\u00a0", " ")


def bars_of(table: VidurErrorTable, component: str) -> list[str]:
    """The tags of a row's bars."""
    row = table.table.value.split(f">{component}</th>")[1].split("</tr>")[0]
    return re.findall(r"<i [^>]*>", row)
