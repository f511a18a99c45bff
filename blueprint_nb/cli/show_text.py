"""Models and systems as text."""

from __future__ import annotations

from ..analysis.priced_by import families_of
from ..analysis.providers import calibrations_of, default_mode
from ..catalog import load_calibration, load_model, load_system
from ..cost import has_calibration, modes_of
from ..errors import BlueprintError
from ..front_door import describe, kv_cache_bytes, list_models, list_systems
from ..system import SystemProfile
from ..units import NO_FIGURE, format_bytes, format_count, format_decimal
from .tables import Column, pairs, table, wrapped

_UNITS = (
    ("_tflop_per_s", "TFLOP/s"),
    ("_gb_per_s", "GB/s"),
    ("_gib", "GiB"),
    ("_mib", "MiB"),
    ("_us", "µs"),
    ("_gflop", "GFLOP"),
    ("_mb", "MB"),
    ("ranks", "ranks"),
    ("compute_units", "units"),
    ("message_multiple", "× message is sent"),
    ("rank_coefficient", "÷ ranks, of what is sent"),
    ("usable_fraction", "of the capacity"),
    ("fraction", "of the peak"),
)


def models_text() -> str:
    """A row for each model."""
    rows = list_models()
    heads = [f"{query}/{kv}" for query, kv in zip(rows["attention_heads"], rows["key_value_heads"], strict=True)]
    return table(
        [
            Column("model", rows["name"].to_list(), "", "left"),
            Column("parameters", [format_decimal(count, "").strip() for count in rows["parameters"]]),
            Column("blocks", [format_count(count) for count in rows["blocks"]]),
            Column("hidden", [format_count(size) for size in rows["hidden_size"]]),
            Column("heads/KV", heads),
            Column("context", [format_count(length) for length in rows["sequence_length"]], "tokens"),
            Column("KV cache", [format_count(size) for size in rows["kv_bytes_per_token"]], "B/token"),
            Column("template", rows["template"].to_list(), "", "left"),
        ]
    )


def systems_text() -> str:
    """A row for each system, and who takes which modes."""
    rows = list_systems()

    def numbers(name: str) -> list[str]:
        return [NO_FIGURE if value is None else f"{value:,.10g}" for value in rows[name]]

    systems = table(
        [
            Column("system", rows["name"].to_list(), "", "left"),
            Column("memory", numbers("memory_gib"), "GiB"),
            Column("bandwidth", numbers("bandwidth_gb_per_s"), "GB/s"),
            Column("float16", numbers("float16_tflop_per_s"), "TFLOP/s", "point"),
            Column("float8", numbers("float8_tflop_per_s"), "TFLOP/s", "point"),
            Column("network", numbers("network_gb_per_s"), "GB/s", "point"),
            Column("kind", rows["kind"].to_list(), "", "left"),
            Column("calibrations", [names or NO_FIGURE for names in rows["calibrations"]], "", "left"),
        ]
    )
    with_curves = [name for name, modes in zip(rows["name"], rows["modes"], strict=True) if "system-evidence" in modes]
    by_curves = [name for name in with_curves if default_mode(load_system(name)) == "system-evidence"]
    modes = (
        "Every system takes the mode peak-only, and calibrated with each calibration listed, the default one first; "
        f"system-evidence: {', '.join(with_curves)}. "
        f"The default mode is calibrated, but system-evidence of {', '.join(by_curves)}."
    )
    return f"{systems}\n\n{wrapped(modes)}"


def model_text(name: str) -> str:
    """One model: what it is, what it weighs, where its figures come from."""
    model = load_model(name)
    size = describe(model)
    kv_bytes = kv_cache_bytes(model)
    rows = [
        ("architecture", size.architecture),
        ("parameters", f"{size.total_parameters:,}"),
        ("  in blocks", f"{size.block_parameters:,}"),
        ("  in the input table", f"{size.embedding_parameters:,}"),
        ("weights", f"{format_bytes(2 * size.total_parameters)} in float16"),
        ("KV cache", f"{kv_bytes:,} bytes a token in float16"),
        ("hidden size", f"{model.hidden_size:,}"),
        ("feed-forward size", f"{model.feedforward_size:,}"),
        ("attention heads", f"{model.attention_heads} of {model.attention_head_size} elements"),
        ("KV heads", f"{model.key_value_heads}"),
        ("vocabulary", NO_FIGURE if model.vocab_size is None else f"{model.vocab_size:,}"),
        ("longest context", f"{model.sequence_length:,} tokens"),
    ]
    if (origin := model.provenance) is not None:
        rows += [
            ("source", origin.source),
            ("published parameters", f"{_published(origin.published_parameters, origin.published_precision)}"),
            ("  stated in", origin.published_source),
        ]
        rows += [("notes", origin.notes)] if origin.notes else []
    return f"{wrapped(model.name)}\n\n{pairs(rows)}"


def _published(count: int, precision: int) -> str:
    return f"{count:,}" if precision == 1 else f"{count:,}, rounded to {precision:,}"


def system_text(name: str) -> str:
    """One system: every figure with its unit and the number of its source, then the sources."""
    system = load_system(name)
    sources = _numbered_sources(system)
    figures = list(system.figures())
    columns = [
        Column("figure", [path for path, _ in figures], "", "left"),
        Column("value", [f"{value:,.10g}" for _, value in figures], "", "point"),
        Column("unit", [_unit(path) for path, _ in figures], "", "left"),
        Column("source", [sources.get(system.source_of(path) or "", NO_FIGURE) for path, _ in figures], "", "left"),
    ]
    head = [
        ("kind", system.kind),
        ("one operation", _PROCESSING[system.processing_mode]),
        ("datatypes", ", ".join(system.datatypes)),
        ("modes", _modes(system)),
        *([("calibrations", ", ".join(calibrations_of(system)))] if has_calibration(system) else []),
        *((f"  {name}", _families(name, system)) for name in system.calibrations),
        *((f"network {index}", tier.name) for index, tier in enumerate(system.network)),
    ]
    parts = [wrapped(f"{system.name}: {system.description}" if system.description else system.name), pairs(head)]
    parts.append(table(columns))
    if sources:
        parts.append("\n".join(wrapped(text, f"{number:<5}", "     ") for text, number in sources.items()))
    return "\n\n".join(parts)


def _families(calibration: str, system: SystemProfile) -> str:
    try:
        return ", ".join(families_of(load_calibration(calibration, system)))
    except BlueprintError as error:
        return str(error)


_PROCESSING = {
    "no_overlap": "compute and memory time are added (no_overlap)",
    "roofline": "the larger of compute and memory time counts (roofline)",
}


def _modes(system: SystemProfile) -> str:
    modes, lacks = ", ".join(modes_of(system)), ", ".join(system.missing_efficiency)
    return f"{modes}; system-evidence lacks {lacks}" if lacks else modes


def _numbered_sources(system: SystemProfile) -> dict[str, str]:
    """Each source that a figure has, with its number, in the order of the figures."""
    used = dict.fromkeys(system.source_of(path) for path, _ in system.figures())
    return {text: f"[{number}]" for number, text in enumerate(filter(None, used), 1)}


def _unit(path: str) -> str:
    return next((unit for ending, unit in _UNITS if path.endswith(ending)), "")
