"""Tables as CSV and inputs as JSON inside links: nothing is fetched, everything can be kept."""

from __future__ import annotations

import base64
import gzip
import json
from dataclasses import dataclass
from typing import Final
from urllib.parse import quote

import numpy as np
import polars as pl

from .._canonical import canonical_json
from ..analysis import Estimate, RequestInputs
from ..analysis.frames import component_frame
from ..analysis.step import step_of
from ..thinning import kept_indices
from ..validation import VidurExperimentReport
from .saved_inputs import saved_inputs

_MOST_STEPS: Final = 4_096
"""Steps in a link; with digest and band, one takes about 150 bytes of a page that stays under 1.5 MB."""

_BAND_DIGITS: Final = 4
"""Significant digits of a band, which is an expectation and none too exact."""

_LONGEST_PLAIN: Final = 40_000
"""Characters of JSON in a link; a longer text is packed."""


@dataclass(frozen=True, slots=True)
class Download:
    """A file in a link."""

    label: str
    file_name: str
    href: str


def decode_download(estimate: Estimate) -> Download:
    """Every decode step with its band, or so many as the page can hold."""
    steps = len(estimate.decode)
    kept = kept_indices(steps, _MOST_STEPS)
    label = "Decode steps as CSV" if len(kept) == steps else f"{len(kept):,} of the {steps:,} decode steps as CSV"
    frame = estimate.decode
    if (band := estimate.decode_band) is not None:
        ends = pl.DataFrame({"low_seconds": band.low_seconds, "high_seconds": band.high_seconds})
        frame = frame.with_columns(ends.select(pl.all().round_sig_figs(_BAND_DIGITS)))
    return _csv(label, "decode.csv", frame[kept])


def component_download(estimate: Estimate) -> Download:
    """Components of the prefill and of the last decode step."""
    phases = ("prefill", "decode") if estimate.has_decode else ("prefill",)
    steps = [step_of(estimate, phase) for phase in phases]
    frames = [
        component_frame(step.costs, (1,), {"phase": str(step.phase), "context_tokens": np.int64(step.context_tokens)})
        for step in steps
    ]
    return _csv("Components as CSV", "components.csv", pl.concat(frames))


def mapping_download(table: pl.DataFrame) -> Download:
    """The mapping table."""
    return _csv("Mappings as CSV", "mappings.csv", table)


def inputs_download(inputs: RequestInputs) -> Download:
    """The inputs, to compute everything again."""
    text = json.dumps(saved_inputs(inputs), indent=1, sort_keys=True)
    return Download("Inputs as JSON", "inputs.json", f"data:application/json;charset=utf-8,{quote(text)}")


def errors_download(report: VidurExperimentReport, most: int) -> Download:
    """Every component of every case, with digests and provenance; of so many cases as `most` characters can hold."""
    content = report.content
    text = canonical_json(content)
    if len(text) <= min(most, _LONGEST_PLAIN):
        return Download(
            "Errors as JSON", "errors.json", f"data:application/json;charset=utf-8,{quote(text, safe=',:')}"
        )
    packed, names = _packed(text), list(dict.fromkeys(case["case"] for case in content["cases"]))
    kept = names
    while len(packed) > most and len(kept) > 1:
        kept = [names[index] for index in kept_indices(len(names), int(len(kept) * 0.9 * most / len(packed)) or 1)]
        packed = _packed(canonical_json({**content, "cases": [c for c in content["cases"] if c["case"] in set(kept)]}))
    of = "" if len(kept) == len(names) else f"{len(kept):,} of the {len(names):,} cases' "
    label = f"{of}errors as JSON, packed"
    return Download(f"{label[:1].upper()}{label[1:]}", "errors.json.gz", f"data:application/gzip;base64,{packed}")


def _packed(text: str) -> str:
    return base64.b64encode(gzip.compress(text.encode(), mtime=0)).decode("ascii")


def _csv(label: str, file_name: str, frame: pl.DataFrame) -> Download:
    return Download(label, file_name, f"data:text/csv;charset=utf-8,{quote(frame.write_csv(), safe=',:')}")
