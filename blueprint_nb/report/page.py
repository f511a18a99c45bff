"""The page: what an estimate says, put into the template. Needs Altair, vl-convert and Jinja2."""

from __future__ import annotations

from typing import Any, Final

from ..analysis import Estimate, RequestInputs
from ..analysis.bands import BAND_NAME
from ..analysis.mapping_faults import mapping_faults
from ..analysis.mapping_table import mapping_table
from ..analysis.vidur import VidurProfileBaseline
from ..units import format_count
from ..validation import error_report
from .calibration_rows import calibration_section
from .charts import component_chart, component_slider_chart, decode_latency_chart, mapping_chart, memory_chart
from .component_table import ComponentRow, component_table
from .downloads import component_download, decode_download, inputs_download, mapping_download
from .embedding import Figure, figure, json_for_script
from .error_section import IN_REPORT, error_section
from .facts import digest_facts, headline_tiles, input_facts, limits, model_sources, system_sources
from .legend import legend
from .mapping_rows import MOST_DEVICES, mapping_rows
from .memory_rows import ALL_PARTS, memory_rows
from .saved_inputs import ELEMENT_ID, saved_inputs
from .shell import rendered
from .step_rows import NO_DECODE, step_rows

_WIDTH: Final = 760
_BAR_WIDTH: Final = _WIDTH - 80
_MOST_EXPLAINED: Final = 16
"""TP and PP up to this are said to be illegal, and why."""
_ZOOM: Final = "Point at the line for figures; Ctrl and wheel zoom, dragging moves, a double click resets."
_FORMULAS: Final = "A bar shows its formulas under the pointer."
_SLIDER: Final = f"The slider chooses the context. {_FORMULAS}"


def page(estimate: Estimate, baseline: VidurProfileBaseline | None = None) -> str:
    """The whole HTML text; its errors are against `baseline`, or against the slice that ships with the project."""
    errors = error_section(error_report(estimate, baseline), IN_REPORT)
    return rendered(
        "report.html.j2", {**_content(estimate), "errors": errors, "limits": limits(estimate, errors.is_compared)}
    )


def _content(estimate: Estimate) -> dict[str, Any]:
    inputs = estimate.inputs
    mappings = mapping_table(inputs, MOST_DEVICES)
    memory_head, memory_body = memory_rows(estimate)
    components = _components(estimate)
    downloads = [component_download(estimate), mapping_download(mappings), inputs_download(inputs)]
    return {
        "title": f"{inputs.model.name} on {inputs.system.name}",
        "verdict": estimate.verdict,
        "has_decode": estimate.has_decode,
        "no_decode": NO_DECODE,
        "headline": headline_tiles(estimate),
        "band_name": BAND_NAME,
        "calibration": calibration_section(estimate),
        "inputs": input_facts(estimate),
        "figures": {one.id: one for one in _figures(estimate, mappings)},
        "memory_head": memory_head,
        "memory_rows": memory_body,
        "all_parts": ALL_PARTS,
        "steps": step_rows(estimate),
        "step_count": format_count(len(estimate.decode_contexts)),
        "components": components,
        "legend": legend(row for rows in components.values() for row in rows),
        "mappings": mapping_rows(mappings, inputs),
        "most_devices": MOST_DEVICES,
        "illegal": _illegal_mappings(inputs),
        "most_explained": _MOST_EXPLAINED,
        "digests": digest_facts(estimate),
        "model_sources": model_sources(estimate),
        "system_sources": system_sources(estimate),
        "downloads": [decode_download(estimate), *downloads] if estimate.has_decode else downloads,
        "saved_id": ELEMENT_ID,
        "saved": json_for_script(saved_inputs(inputs)),
    }


def _figures(estimate: Estimate, mappings: Any) -> list[Figure]:
    mapping = estimate.inputs.mapping
    chosen = (mapping.tensor_parallel, mapping.pipeline_parallel)
    metric = "decode_step_seconds" if estimate.has_decode else "prefill_seconds"
    decode = decode_latency_chart(estimate, width=_WIDTH, zoom=True)
    still = decode_latency_chart(estimate, width=_WIDTH, hover=False)
    prefill = component_chart(estimate, phase="prefill", width=_BAR_WIDTH)
    return [
        figure("memory", memory_chart(estimate, width=_WIDTH - 20), "Memory of the fullest device by part."),
        figure("decode", decode, "Decode step by visible context.", _ZOOM, still=still),
        figure("decode-components", component_slider_chart(estimate, width=_BAR_WIDTH), "Decode components.", _SLIDER),
        figure("prefill-components", prefill, "Components of the prefill.", _FORMULAS),
        figure("mappings", mapping_chart(mappings, metric, chosen=chosen), "The frame is this report's mapping."),
    ]


def _components(estimate: Estimate) -> dict[str, list[ComponentRow]]:
    phases = ("decode", "prefill") if estimate.has_decode else ("prefill",)
    return {phase: component_table(estimate, phase) for phase in phases}


def _illegal_mappings(inputs: RequestInputs) -> list[str]:
    """ "TP 3, 5–7: must divide the 32 attention heads"."""
    faults = mapping_faults(inputs.model, inputs.system, inputs.network, _MOST_EXPLAINED, _MOST_EXPLAINED)
    return [f"{fault.axis} {fault.text}" for fault in faults]
