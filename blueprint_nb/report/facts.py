"""What a report says about itself: inputs, identity, sources, and the limits of the model, in words."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from ..analysis import Estimate, cautions
from ..analysis.bands import band_text, rate_band_text
from ..analysis.falls import falls_of
from ..analysis.providers import pricing_in_words
from ..analysis.rates import rate_text
from ..analysis.snapshot import digests
from ..catalog import POOLED
from ..cost import Band
from ..units import format_count, format_percent, format_seconds
from ..version import __version__
from ..words import counted, few

Fact = tuple[str, str]


@dataclass(frozen=True, slots=True)
class Tile:
    """A figure of the headline."""

    name: str
    value: str
    band: str = ""
    """What nine of ten such figures lie in; empty where nobody knows."""


_MOST_NAMED: Final = 5

_DIGEST_NAMES = {
    "model": "Model (ModelIR)",
    "distributed": "Distributed tasks (DistributedTaskIR)",
    "plan_template": "Plan template",
    "bound_template": "Bound template",
    "prefill_plan": "Prefill plan (PortablePlanIR)",
    "prefill_bound_plan": "Prefill bound plan (BoundPlan)",
    "system_revision": "System revision",
}

_ATTENTION = {
    "unfused": "Attention unfused: the whole square of scores is computed and held; its traffic is not counted.",
    "flash": "Attention flash: scores stay on chip, and what the causal mask hides is skipped.",
    "paged": "Attention paged: as flash, over a KV cache that is held in blocks of tokens.",
}


def headline_tiles(estimate: Estimate) -> list[Tile]:
    """The figures that are asked for first, with their bands."""
    request, whole = estimate.inputs.request, estimate.model_execution_band
    tokens = request.generated_tokens
    return [
        _time_tile("Prefill", estimate.prefill_seconds, estimate.prefill_band),
        _time_tile("Mean decode step", estimate.mean_decode_step_seconds, estimate.mean_decode_step_band),
        _time_tile("Whole request", estimate.model_execution_seconds, whole),
        Tile(
            "Tokens/s a replica, with the prefill",
            rate_text(estimate.tokens_per_second),
            rate_band_text(whole, request.batch_size * tokens),
        ),
        Tile(
            "Tokens/s a sequence, with the prefill",
            rate_text(estimate.tokens_per_second_per_sequence),
            rate_band_text(whole, tokens),
        ),
        Tile("Devices", format_count(estimate.devices)),
    ]


def _time_tile(name: str, seconds: float | None, band: Band | None) -> Tile:
    return Tile(name, "none") if seconds is None else Tile(name, format_seconds(seconds), band_text(band, seconds))


def input_facts(estimate: Estimate) -> list[Fact]:
    """What was asked."""
    inputs = estimate.inputs
    model, system, mapping, request = inputs.model, inputs.system, inputs.mapping, inputs.request
    tiers = [
        f"{what} over tier {index} ({system.network[index].name})"
        for what, index, size in (
            ("TP", inputs.network.tensor_parallel_network, mapping.tensor_parallel),
            ("PP", inputs.network.pipeline_parallel_network, mapping.pipeline_parallel),
        )
        if size > 1
    ]
    return [
        ("Model", f"{model.name}: {model.architecture}"),
        ("System", f"{system.name}: {system.description}" if system.description else system.name),
        (
            "Mapping",
            f"TP {mapping.tensor_parallel} × PP {mapping.pipeline_parallel} × "
            f"{counted(mapping.replicas, 'replica')} = {counted(mapping.devices, 'device')}",
        ),
        ("Network", "; ".join(tiers) or "not used: one device holds a replica"),
        (
            "Request",
            f"batch {format_count(request.batch_size)}, prompt {counted(request.prompt_tokens, 'token')}, "
            f"output {counted(request.generated_tokens, 'token')}",
        ),
        ("Datatype", request.datatype),
        ("Cost mode", pricing_in_words(system, inputs.mode, inputs.calibration)),
        ("Attention", inputs.attention),
        *([("Asked before the mode", ", ".join(one.name for one in inputs.stacked))] if inputs.stacked else []),
        *([("Host overhead", "counted, as a component")] if inputs.host_overhead else []),
    ]


def digest_facts(estimate: Estimate) -> list[Fact]:
    """What identifies every step from the question to the answer."""
    found = digests(estimate)
    facts = [(label, found[name]) for name, label in _DIGEST_NAMES.items()]
    facts += [(f"Calibration {name.partition(':')[2]}", found[name]) for name in found if name not in _DIGEST_NAMES]
    if estimate.decode_digests:
        facts.append(("Last decode plan (PortablePlanIR)", estimate.decode_digests[-1]))
    return [*facts, ("Version of blueprint-nb", __version__)]


def model_sources(estimate: Estimate) -> list[Fact]:
    """Where the model's figures come from."""
    provenance = estimate.inputs.model.provenance
    if provenance is None:
        return [("Source", "none given: this model was described by its user")]
    published = f"{provenance.published_parameters:,} ({provenance.published_source})"
    facts = [("Source", provenance.source), ("Published parameters", published)]
    return [*facts, ("Notes", provenance.notes)] if provenance.notes else facts


def system_sources(estimate: Estimate) -> list[tuple[str, str, str]]:
    """(path, figure, source) of every figure of the system."""
    system = estimate.inputs.system
    return [(path, f"{value:,.12g}", system.source_of(path) or "no source given") for path, value in system.figures()]


def limits(estimate: Estimate, is_compared: bool) -> list[str]:
    """What the figures leave out; `is_compared` is whether any component was held against a measurement."""
    inputs = estimate.inputs
    tested = "was tested for single components only" if is_compared else "was not tested for this request"
    figures = "from parameters fitted to measured kernels" if inputs.calibration else "from the system's own figures"
    found = [
        "Derived, not measured. Every figure follows from counted operations, bytes and messages and "
        f"{figures}; how far off it is {tested}.",
        _scope(estimate),
        "Serial composition: components run one after the other, communication does not overlap with computation, "
        "and the stages of a pipeline work on one batch in turn.",
        f"Left out: {_left_out(estimate)}. These are times of execution, not TTFT, TPOT or end-to-end latency.",
        "The prompts of the whole batch are prefilled at once; a server that splits them into chunks needs less "
        "workspace.",
        _mode(estimate),
        *_falls(estimate),
        _ATTENTION[inputs.attention],
        *cautions(estimate),
    ]
    memory = inputs.system.memory
    if memory.usable_fraction < 1:
        found.append(
            f"It fits when all parts stay below {format_percent(memory.usable_fraction)} of the memory; the rest is "
            "left to the driver and to fragments."
        )
    if inputs.system.kind == "custom":
        found.append("The system is a what-if or the user's own: see its sources.")
        if inputs.calibration == POOLED and not inputs.system.calibrations:
            found.append("No parameters were fitted to this system: those of other devices, pooled, price it.")
    return found


def _scope(estimate: Estimate) -> str:
    if estimate.inputs.model.is_reference:
        return "Decoder stack only (template dense-mha): no embedding, final norm or LM head, in time and in memory."
    return "The whole model: embedding, decoder stack, final norm and LM head."


def _left_out(estimate: Estimate) -> str:
    host = "" if estimate.inputs.host_overhead else "host, "
    outside = f"sampling, tokenizer, {host}scheduling, queueing"
    if estimate.inputs.calibration:
        return (
            f"{outside}, gaps between kernels, overlap of kernels with each other and with messages, and contention "
            "for memory and links"
        )
    return f"{outside}, launch floors, tile and wave quantisation, and cache hits"


def _mode(estimate: Estimate) -> str:
    if estimate.inputs.calibration:
        return (
            "Mode calibrated: kernels are timed one by one, by forms fitted to measured ones. A band is about the "
            "kernels' times, not about what is left out (see Calibration)."
        )
    if estimate.inputs.mode == "peak-only":
        return "Mode peak-only: every efficiency is 1, so that operations and bytes move at the peaks of the profile."
    said = "Mode system-evidence: efficiencies are step curves, so that time falls where work crosses a threshold"
    return f"{said}." if estimate.latency_drops else f"{said}; no decode step of this request does."


def _falls(estimate: Estimate) -> list[str]:
    """Where a decode step is faster than the one before, by reason."""
    contexts: dict[str, list[str]] = {}
    for fall in falls_of(estimate, estimate.drop_indices):
        contexts.setdefault(fall.why, []).append(format_count(fall.context_tokens))
    said = "Decode steps that are faster than the one before"
    return [f"{said}, at {_contexts(at)}: {why}." for why, at in contexts.items()]


def _contexts(contexts: list[str]) -> str:
    """ "context 97", "contexts 97, 129, 161, 193, 225 and 3 more"."""
    return f"context{'' if len(contexts) == 1 else 's'} {few(contexts, _MOST_NAMED)}"
