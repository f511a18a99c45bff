"""What a request costs, and every view of it: frames, verdict, JSON, report.

An estimate is frozen once made: its figures come from plans and a cost provider, and nothing measured afterwards can
change them.
"""

from __future__ import annotations

import os
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from .._canonical import canonical_json
from ..cost import Band, CostBlock, Deviation, band_of_sum
from ..ir import BoundPlan, PortablePlanIR, packed_digests
from ..workload import InferencePhase, WorkloadBinding
from .frames import component_frame
from .inputs import RequestInputs
from .lowering import Lowered
from .memory import PARTS, MemoryReport, step_memory
from .phase import PhaseEstimate
from .points import phase_statistics
from .rates import ratio
from .snapshot import estimate_content
from .verdict import Verdict, verdict_of

if TYPE_CHECKING:
    import polars as pl

    from .vidur import VidurProfileBaseline


@dataclass(frozen=True, eq=False)
class Estimate:
    """One request on one mapping: one prefill and O − 1 decode steps. Rates are of one replica."""

    inputs: RequestInputs
    lowered: Lowered
    prefill_plan: PortablePlanIR
    prefill: PhaseEstimate
    decode_contexts: Any
    """int64 array, shape (O − 1,): visible context of each decode step."""
    decode_costs: CostBlock | None
    """Over `decode_contexts`; None when O = 1."""
    memory: MemoryReport
    """Of the fullest device at the fullest point."""

    @property
    def has_decode(self) -> bool:
        """Whether there is any decode step (O > 1)."""
        return self.decode_costs is not None

    @property
    def prefill_seconds(self) -> float:
        """Of the whole model; for the template `dense-mha`, of the stack."""
        return self.prefill.seconds

    @cached_property
    def decode_seconds(self) -> Any:
        """float64 array, shape (O − 1,): seconds of each decode step."""
        return self._over_contexts(None if self.decode_costs is None else self.decode_costs.seconds)

    @cached_property
    def decode_band(self) -> Band | None:
        """Of each decode step: arrays of shape (O − 1,); None without decode steps or where a component has none."""
        band = None if self.decode_costs is None else self.decode_costs.band
        if band is None:
            return None
        return Band(self._over_contexts(band.low_seconds), self._over_contexts(band.high_seconds))

    @cached_property
    def mean_decode_step_band(self) -> Band | None:
        """Of the mean decode step; None as `decode_band`."""
        steps, deviations = len(self.decode_contexts), self._decode_deviations
        if not steps or deviations is None:
            return None
        band = band_of_sum(float(self.decode_seconds.sum()), deviations)
        return Band(float(band.low_seconds) / steps, float(band.high_seconds) / steps)

    @property
    def prefill_band(self) -> Band | None:
        """Of the prefill; None where a component has none."""
        band = self.prefill.costs.band
        return None if band is None else Band(float(band.low_seconds), float(band.high_seconds))

    @cached_property
    def model_execution_band(self) -> Band | None:
        """Of prefill and all decode steps; None where a component has none. A component's steps err alike."""
        prefill, decode = self.prefill.costs.deviations, self._decode_deviations
        if prefill is None or decode is None:
            return None
        band = band_of_sum(self.model_execution_seconds, (*prefill, *decode))
        return Band(float(band.low_seconds), float(band.high_seconds))

    @cached_property
    def _decode_deviations(self) -> tuple[Deviation, ...] | None:
        """Of each component over all decode steps; none without steps."""
        if self.decode_costs is None:
            return ()
        deviations = self.decode_costs.deviations
        return None if deviations is None else tuple(one.summed(len(self.decode_contexts)) for one in deviations)

    @property
    def mean_decode_step_seconds(self) -> float | None:
        """Decode total / (O − 1); None when O = 1."""
        steps = len(self.decode_contexts)
        return float(self.decode_seconds.sum()) / steps if steps else None

    @property
    def model_execution_seconds(self) -> float:
        """Prefill and all decode steps, one after the other; no queue, and no host unless it was asked for."""
        return self.prefill_seconds + float(self.decode_seconds.sum())

    @property
    def tokens_per_second(self) -> float | None:
        """Tokens that one replica generates in a second: batch · O / total; None where all was asserted to take 0 s."""
        rate = self.tokens_per_second_per_sequence
        return None if rate is None else self.inputs.request.batch_size * rate

    @property
    def tokens_per_second_per_sequence(self) -> float | None:
        """Tokens that one sequence gets in a second: O / total; None as `tokens_per_second`."""
        return ratio(self.inputs.request.generated_tokens, self.model_execution_seconds)

    @property
    def devices(self) -> int:
        """TP × PP × replicas."""
        return self.inputs.mapping.devices

    @cached_property
    def decode(self) -> pl.DataFrame:
        """A row for each decode step: context_tokens (int64), seconds, stack_seconds (float64), plan_digest (text)."""
        import polars as pl

        stack = None if self.decode_costs is None else self.decode_costs.stack_seconds
        return pl.DataFrame(
            {
                "context_tokens": self.decode_contexts,
                "seconds": self.decode_seconds,
                "stack_seconds": self._over_contexts(stack),
                "plan_digest": pl.Series(self.decode_digests, dtype=pl.String),
            }
        )

    @cached_property
    def decode_digests(self) -> list[str]:
        """Digest of each decode step's portable plan."""
        if not self.has_decode:
            return []
        template, batch = self.lowered.plan, self.inputs.request.batch_size
        statistics = phase_statistics(template, InferencePhase.DECODE, np.int64(batch), self.decode_contexts)
        columns = template.quantities([(1, self.decode_contexts, batch)], statistics)
        return packed_digests(template.digest, columns, len(self.decode_contexts))

    @cached_property
    def components(self) -> pl.DataFrame:
        """A row for each component of the prefill and of every decode step, in plan order.

        Columns: phase, context_tokens, component, primitive, source_layer, seconds (of one execution), count
        (executions in the phase), operations, read_bytes, write_bytes, message_bytes, compute_seconds, memory_seconds,
        network_seconds, floor_seconds, bound, low_seconds, high_seconds, and where the seconds come from (see
        `component_frame`). Seconds of a phase are Σ seconds · count.
        """
        import polars as pl

        keys = {"phase": "prefill", "context_tokens": np.int64(self.inputs.request.prompt_tokens)}
        frames = [component_frame(self.prefill.costs, (1,), keys)]
        if self.decode_costs is not None:
            keys = {"phase": "decode", "context_tokens": self.decode_contexts}
            frames.append(component_frame(self.decode_costs, self.decode_contexts.shape, keys))
        return pl.concat(frames)

    @cached_property
    def memory_by_context(self) -> pl.DataFrame:
        """A row for the prefill and each decode step: phase, context_tokens, and bytes on the fullest device by part.

        Columns of bytes (int64): weights_bytes, kv_cache_bytes, workspace_bytes, buffers_bytes.
        """
        import polars as pl

        contexts = np.concatenate([[self.inputs.request.prompt_tokens], self.decode_contexts])
        frames = []
        for phase, visible in ((InferencePhase.PREFILL, contexts[:1]), (InferencePhase.DECODE, contexts[1:])):
            if len(visible):
                parts = step_memory(self.lowered.bound, phase, self.inputs.request.batch_size, visible)
                sizes = {name: np.broadcast_to(getattr(parts, name), visible.shape) for name in PARTS}
                frame = pl.DataFrame({"context_tokens": visible, **sizes})
                frames.append(frame.select(pl.lit(str(phase)).alias("phase"), pl.all()))
        return pl.concat(frames)

    @cached_property
    def latency_drops(self) -> tuple[int, ...]:
        """Contexts at which a decode step is faster than the one before; `analysis.falls` says why.

        Efficiency curves do so, and times that were measured or asserted; fitted forms should not.
        """
        return tuple(int(context) for context in self.decode_contexts[self.drop_indices])

    @cached_property
    def drop_indices(self) -> Any:
        """int64 array: positions of `latency_drops` among the decode steps."""
        return np.flatnonzero(np.diff(self.decode_seconds) < 0) + 1

    def decode_plan(self, context_tokens: int) -> PortablePlanIR:
        """The portable plan of the decode step at a visible context."""
        request = self.inputs.request
        workload = WorkloadBinding.decode(
            batch_size=request.batch_size, context_tokens=context_tokens, datatype=request.datatype
        )
        return PortablePlanIR(template=self.lowered.plan, workload=workload)

    def bound_plan(self, plan: PortablePlanIR) -> BoundPlan:
        """`plan` with this estimate's kernels."""
        return self.lowered.implementation.bind(plan)

    @cached_property
    def verdict(self) -> Verdict:
        """Whether it fits, by how much, how fast it decodes, what bounds it, and what to change."""
        return verdict_of(self)

    def summary(self) -> str:
        """The verdict in words."""
        return self.verdict.text

    def explain(self, phase: str = "decode", context_tokens: int | None = None) -> pl.DataFrame:
        """How the time of each component of one step comes about: of the prefill, or of the decode step at a visible
        context, by default the last.

        A row for each component, in plan order. Columns: component (text), count (int64, executions in the step),
        seconds, low_seconds, high_seconds (float64, of one execution), bound, one column of seconds for each term of
        the cost forms (floor, compute, memory, l2, waves, split, …; null where the form has none of that name),
        provider, match, and explanation (text): "128 CTAs on 108 SMs: 2 waves, 59 % full; memory 31 µs; floor 2.1 µs".
        Terms overlap, so they need not add up to the seconds.

        Raises `UnknownNameError` for another phase, `InvalidInputError` where the request has no such step.
        """
        from .explain import explained
        from .step import step_of

        return explained(self, step_of(self, phase, context_tokens))

    def to_json(self) -> str:
        """Inputs, digests, figures, and the plans of prefill and last decode step, as canonical JSON."""
        return canonical_json(estimate_content(self))

    def report(self, path: str | os.PathLike[str], baseline: VidurProfileBaseline | None = None) -> Path:
        """Writes the self-contained HTML report; returns its path.

        It compares components with `baseline`, or with the slice that ships with the project. Raises
        `MissingExtraError` without the extra `notebook`, `InvalidInputError` for what is no path, and
        `OutputError` where it can't be written.
        """
        from ..report import write_report

        return write_report(self, path, baseline)

    def _over_contexts(self, seconds: Any) -> Any:
        shape = self.decode_contexts.shape
        return np.zeros(shape) if seconds is None else np.broadcast_to(seconds, shape)
