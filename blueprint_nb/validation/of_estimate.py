"""The errors of a request's steps: its prefill, and the decode steps that a profile has rows of."""

from __future__ import annotations

from ..analysis import Estimate
from ..analysis.vidur import Subject, VidurProfileBaseline, load_slice
from ..thinning import kept_indices
from ..workload import InferencePhase
from .case import VidurExperimentCase
from .experiment import run_vidur_experiment
from .report import VidurExperimentReport

_MOST_STEPS = 64


def error_report(estimate: Estimate, baseline: VidurProfileBaseline | None = None) -> VidurExperimentReport:
    """Compares the steps of `estimate` with `baseline`, or with the slice that ships with the project.

    Its prefill, and of its decode steps those at measured contexts, evenly thinned to 64; where there is none, the
    first, whose projections need no context. An estimate in the mode `calibrated` is compared with the parameters that
    priced it.
    """
    oracle = load_slice() if baseline is None else baseline
    request = estimate.inputs.request
    cases = [_case(estimate, InferencePhase.PREFILL, request.prompt_tokens)]
    cases += [_case(estimate, InferencePhase.DECODE, context) for context in _contexts(estimate, oracle)]
    return run_vidur_experiment(cases, oracle, calibration=estimate.inputs.calibration or None)


def _contexts(estimate: Estimate, oracle: VidurProfileBaseline) -> list[int]:
    if not estimate.has_decode:
        return []
    first, last = int(estimate.decode_contexts[0]), int(estimate.decode_contexts[-1])
    inputs = estimate.inputs
    subject = Subject(
        model=inputs.model,
        mapping=inputs.mapping,
        network=inputs.network,
        system=inputs.system,
        plan=estimate.bound_plan(estimate.decode_plan(first)),
    )
    measured = [context for context in oracle.measured_contexts(subject) if first <= context <= last]
    return [measured[index] for index in kept_indices(len(measured), _MOST_STEPS)] or [first]


def _case(estimate: Estimate, phase: InferencePhase, context_tokens: int) -> VidurExperimentCase:
    inputs = estimate.inputs
    return VidurExperimentCase(
        name=f"{phase} {context_tokens:,}",
        model=inputs.model,
        mapping=inputs.mapping,
        network_binding=inputs.network,
        datatype=inputs.request.datatype,
        hardware=inputs.system,
        phase=phase,
        batch_size=inputs.request.batch_size,
        context_tokens=context_tokens,
        attention=inputs.attention,
    )
