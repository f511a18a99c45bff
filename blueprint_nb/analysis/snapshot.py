"""An estimate as data: what it was made from, what came out, and the plans at its two ends."""

from __future__ import annotations

import json
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

from .._canonical import content, plain
from ..version import __version__
from .priced_by import origin_of

if TYPE_CHECKING:
    from ..ir import PortablePlanIR
    from .estimate import Estimate

SCHEMA = "blueprint-nb/estimate/1"


def estimate_content(estimate: Estimate) -> dict[str, Any]:
    """JSON data of the whole estimate."""
    last = int(estimate.decode_contexts[-1]) if len(estimate.decode_contexts) else None
    plans = {"prefill": _plan(estimate, estimate.prefill_plan)}
    if last is not None:
        plans["last_decode"] = _plan(estimate, estimate.decode_plan(last))
    return {
        "schema": SCHEMA,
        "version": __version__,
        "inputs": plain(estimate.inputs),
        "digests": digests(estimate),
        "seconds": {
            "prefill": estimate.prefill_seconds,
            "mean_decode_step": estimate.mean_decode_step_seconds,
            "model_execution": estimate.model_execution_seconds,
        },
        **_bands(estimate),
        "tokens_per_second": estimate.tokens_per_second,
        "tokens_per_second_per_sequence": estimate.tokens_per_second_per_sequence,
        "devices": estimate.devices,
        "memory": asdict(estimate.memory),
        "summary": estimate.summary(),
        "decode": estimate.decode.to_dict(as_series=False),
        "plans": plans,
        "model_ir": content(estimate.lowered.model),
        "distributed_task_ir": content(estimate.lowered.distributed),
    }


def digests(estimate: Estimate) -> dict[str, str]:
    """What identifies the estimate: of each IR, the system's revision, and that of each set which priced it, under
    `calibrated:NAME`.
    """
    lowered = estimate.lowered
    phases = [estimate.prefill.costs, *([] if estimate.decode_costs is None else [estimate.decode_costs])]
    origins = [origin for phase in phases for cost in phase.costs if (origin := origin_of(cost)) is not None]
    revisions = {origin.provider: origin.revision for origin in origins if origin.method == "calibrated"}
    return {
        "model": lowered.model.digest,
        "distributed": lowered.distributed.digest,
        "plan_template": lowered.plan.digest,
        "bound_template": lowered.bound.digest,
        "prefill_plan": estimate.prefill_plan.digest,
        "prefill_bound_plan": estimate.prefill.plan.digest,
        "system_revision": estimate.inputs.system.revision,
        **dict(sorted(revisions.items())),
    }


def _bands(estimate: Estimate) -> dict[str, Any]:
    """Seconds that nine of ten such figures lie between, low then high; nothing where nobody knows."""
    bands = {
        "prefill": estimate.prefill_band,
        "mean_decode_step": estimate.mean_decode_step_band,
        "model_execution": estimate.model_execution_band,
    }
    known = {name: [band.low_seconds, band.high_seconds] for name, band in bands.items() if band is not None}
    return {"band_seconds": known} if known else {}


def _plan(estimate: Estimate, plan: PortablePlanIR) -> dict[str, Any]:
    return {
        "portable": json.loads(plan.to_json()),
        "bound": json.loads(estimate.bound_plan(plan).to_json()),
    }
