"""The calls a notebook makes. Names and numbers in, estimates and frames out; every one checks what it is given."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from .analysis import (
    CacheInputs,
    Estimate,
    ModelDescription,
    RequestInputs,
    SweepInputs,
    attention_of,
    describe_model,
    estimate_request,
    key_value_cache_bytes,
    sweep_components,
    sweep_points,
)
from .analysis.axes import axis
from .analysis.providers import calibration_of, calibrations_of, mode_of, pricing_in_words, provider_of
from .analysis.stacking import stacked_before
from .analysis.unasked import Unasked
from .analysis.unfelt import unfelt_in_words
from .catalog import load_model, load_system, model_names, system_names
from .cost import has_calibration, modes_of
from .errors import InvalidInputError, one_of, shown
from .mapping import NetworkTierBinding, TransformerInferenceMappingSpec
from .system import SystemProfile
from .workload import InferencePhase, TransformerInferenceRequestSpec, TransformerModelSpec, element_bytes

if TYPE_CHECKING:
    import polars as pl

    from .analysis.stacking import Asserted, Evidence

Model = str | Path | TransformerModelSpec
System = str | Path | SystemProfile
Axis = int | Sequence[int]


def estimate(
    model: Model,
    system: System,
    *,
    tensor_parallel: int = 1,
    pipeline_parallel: int = 1,
    replicas: int = 1,
    batch_size: int = 1,
    prompt_tokens: int = 1024,
    generated_tokens: int = 128,
    datatype: str = "float16",
    mode: str | None = None,
    calibration: str | None = None,
    tensor_parallel_network: int = 0,
    pipeline_parallel_network: int = 0,
    attention: str | None = None,
    evidence: Evidence | None = None,
    asserted: Asserted | None = None,
    learned_from: Evidence | None = None,
    host_overhead: bool = False,
) -> Estimate:
    """What one request costs: a prefill of `prompt_tokens` and `generated_tokens` − 1 decode steps.

    `mode` is peak-only, system-evidence or calibrated; None takes calibrated where parameters price the system, but
    system-evidence for the reference presets. `calibration` names the parameters, and with them the mode calibrated
    where `mode` is None; None takes the system's own.
    `attention` is unfused, flash or paged; None takes the model's default.

    Before the mode come figures of your own, `asserted` (a CSV file of family, shape and seconds, or component to
    seconds), then `evidence`: measured kernels of this system, as a `PerformanceDatabase`, its folder, or a frame of
    observations; each row of `components` says whose figure it is. `learned_from`, of the same kinds as `evidence`,
    corrects the calibration near measured GEMMs and gated activations. `host_overhead` adds the host's time of each
    step as the component `host_overhead`. What was asserted but nothing asks for is named by the verdict.

    Raises `InvalidInputError` (names with the nearest ones, numbers, mappings, contexts, evidence of other systems or
    of two sources at odds) and `UnsupportedError` where the system lacks a figure.
    """
    spec, hardware = load_model(model), load_system(system)
    chosen = mode_of(hardware, mode, calibration)
    parameters = calibration_of(hardware, chosen, calibration)
    inputs = RequestInputs(
        model=spec,
        system=hardware,
        mapping=TransformerInferenceMappingSpec(
            tensor_parallel=tensor_parallel, pipeline_parallel=pipeline_parallel, replicas=replicas
        ),
        request=TransformerInferenceRequestSpec(
            batch_size=batch_size,
            prompt_tokens=prompt_tokens,
            generated_tokens=generated_tokens,
            datatype=datatype,
        ),
        network=NetworkTierBinding(
            tensor_parallel_network=tensor_parallel_network,
            pipeline_parallel_network=pipeline_parallel_network,
        ),
        mode=chosen,
        attention=attention_of(spec, attention),
        calibration=parameters,
        stacked=stacked_before(hardware, evidence, asserted, learned_from, parameters),
        host_overhead=host_overhead,
    )
    return estimate_request(inputs)


def sweep(
    model: Model,
    system: System,
    *,
    tensor_parallel: Axis = 1,
    pipeline_parallel: Axis = 1,
    batch_size: Axis = 1,
    context_tokens: Axis = 1024,
    phase: str = "decode",
    datatype: str = "float16",
    mode: str | None = None,
    calibration: str | None = None,
    tensor_parallel_network: int = 0,
    pipeline_parallel_network: int = 0,
    attention: str | None = None,
    by_component: bool = False,
    evidence: Evidence | None = None,
    asserted: Asserted | None = None,
    learned_from: Evidence | None = None,
    host_overhead: bool = False,
) -> pl.DataFrame:
    """One step at every point of the full product of the axes; each axis is an integer or many.

    See `analysis.sweep.sweep_points` for the columns; with `by_component`, a row for each (point, component). Points
    that no legal mapping has, or whose context the model does not take, have nulls and a reason. `evidence`,
    `asserted`, `learned_from` and `host_overhead` are as in `estimate`; a UserWarning names what was asserted but no
    point asks for, a layer that corrects nothing, and what of a what-if the mode calibrated does not feel. Raises as
    `estimate`.
    """
    spec, hardware = load_model(model), load_system(system)
    element_bytes(datatype)
    chosen = mode_of(hardware, mode, calibration)
    parameters = calibration_of(hardware, chosen, calibration)
    stacked = stacked_before(hardware, evidence, asserted, learned_from, parameters)
    unasked = Unasked(stacked)
    inputs = SweepInputs(
        model=spec,
        system=hardware,
        network=NetworkTierBinding(
            tensor_parallel_network=tensor_parallel_network,
            pipeline_parallel_network=pipeline_parallel_network,
        ),
        datatype=datatype,
        phase=_phase(phase),
        attention=attention_of(spec, attention),
        provider=provider_of(
            hardware,
            chosen,
            parameters,
            stacked,
            _flag("host_overhead", host_overhead),
        ),
        tensor_parallel=axis("tensor_parallel", tensor_parallel),
        pipeline_parallel=axis("pipeline_parallel", pipeline_parallel),
        batch_size=axis("batch_size", batch_size),
        context_tokens=axis("context_tokens", context_tokens),
        unasked=unasked,
    )
    frame = sweep_components(inputs) if _flag("by_component", by_component) else sweep_points(inputs)
    if words := unasked.in_words:
        # A frame has no place for it, and what is not said here would pass for a figure that was taken.
        warnings.warn(f"in this sweep, {words}", stacklevel=2)
    if chosen == "calibrated" and (words := unfelt_in_words(hardware, datatype)):
        warnings.warn(f"{pricing_in_words(hardware, chosen, parameters)}: {words}", stacklevel=2)
    return frame


def describe(model: Model) -> ModelDescription:
    """A model's parameters and architecture. Raises as `load_model`."""
    return describe_model(load_model(model))


def kv_cache_bytes(
    model: Model,
    *,
    context_tokens: int = 1,
    batch_size: int = 1,
    tensor_parallel: int = 1,
    pipeline_parallel: int = 1,
    datatype: str = "float16",
) -> int:
    """Bytes of KV cache that one device holds. Raises `InvalidInputError`."""
    inputs = CacheInputs(
        model=load_model(model),
        mapping=TransformerInferenceMappingSpec(tensor_parallel=tensor_parallel, pipeline_parallel=pipeline_parallel),
        batch_size=batch_size,
        context_tokens=context_tokens,
        datatype=datatype,
    )
    return key_value_cache_bytes(inputs)


def list_models() -> pl.DataFrame:
    """The models that ship with the project, a row each."""
    import polars as pl

    rows: list[dict[str, Any]] = []
    for name in model_names():
        model, size = load_model(name), describe(name)
        rows.append(
            {
                "name": name,
                "parameters": size.total_parameters,
                "blocks": model.block_count,
                "hidden_size": model.hidden_size,
                "attention_heads": model.attention_heads,
                "key_value_heads": model.key_value_heads,
                "sequence_length": model.sequence_length,
                "kv_bytes_per_token": kv_cache_bytes(model),
                "template": model.template,
            }
        )
    return pl.DataFrame(rows)


def list_systems() -> pl.DataFrame:
    """The systems that ship with the project, a row each."""
    import polars as pl

    rows: list[dict[str, Any]] = []
    for name in system_names():
        system = load_system(name)
        rows.append(
            {
                "name": name,
                "kind": system.kind,
                "memory_gib": system.memory.capacity_gib,
                "bandwidth_gb_per_s": system.memory.bandwidth_gb_per_s,
                "float16_tflop_per_s": system.matrix.float16_tflop_per_s,
                "float8_tflop_per_s": system.matrix.float8_tflop_per_s,
                "network_gb_per_s": system.network[0].bandwidth_gb_per_s,
                "datatypes": ", ".join(system.datatypes),
                "modes": ", ".join(modes_of(system)),
                "calibrations": ", ".join(calibrations_of(system)) if has_calibration(system) else "",
            }
        )
    return pl.DataFrame(rows)


def _flag(field: str, value: object) -> bool:
    if value is True or value is False:
        return value
    raise InvalidInputError(field, got=shown(value), rule="must be true or false")


def _phase(phase: object) -> InferencePhase:
    return InferencePhase(one_of("phase", phase, [str(known) for known in InferencePhase]))
