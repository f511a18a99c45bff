"""Each component of a finished plan beside the rows of its operator, where all that they depend on is the same."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

from ...cost import ComponentActivity, plan_activity
from ...evidence.vidur import OPERATORS
from .identity import BaselineIdentity
from .operators import BOTH_ADDS, NO_OPERATOR, operator_of
from .plausibility import judged
from .reference import Reason, VidurReference, not_covered, noted
from .rows import ProfileRows
from .subject import Subject
from .topology import block_fault, component_fault, hardware_fault, identity_fault, network_fault


@dataclass(frozen=True, slots=True, eq=False)
class Matching:
    """A plan, and the files that its components are looked up in."""

    identity: BaselineIdentity
    files: Mapping[str, ProfileRows]
    """Kind of file to its rows."""
    subject: Subject

    def references(self) -> tuple[VidurReference, ...]:
        """The reference of every component, or the reason for none, in plan order."""
        components = plan_activity(self.subject.plan).components
        fault = identity_fault(self.subject, self.identity.model_name)
        if fault:
            return tuple(not_covered(activity.component, fault) for activity in components)
        return tuple(self._reference(activity) for activity in components)

    def measured_contexts(self) -> list[int]:
        """Visible contexts of decode steps like the plan's that an attention file has rows of."""
        rows = self.files.get("attention")
        if rows is None:
            return []
        like = self._attention_key() or {}
        like.pop("kv_cache_size", None)
        return [cached + 1 for cached in rows.distinct("kv_cache_size", like)]

    def _reference(self, activity: ComponentActivity) -> VidurReference:
        component = activity.component
        is_half = self.subject.model.residual == "parallel" and component in BOTH_ADDS
        operator = "add" if is_half else operator_of(component, self.subject.is_prefill)
        if operator is None:
            return not_covered(component, NO_OPERATOR[component])
        kind = OPERATORS[operator]
        rows = self.files.get(kind)
        if rows is None:
            return no_file(component, operator)
        if fault := self._fault(component, kind, rows):
            return not_covered(component, fault, operator)
        if kind == "compute":
            found = rows.find(component, operator, self.subject.compute_key())
        elif kind == "attention":
            found = self._attention(component, operator, rows)
        else:
            found = self._collective(activity, operator, rows)
        return judged(_half(found) if is_half else found, activity, self.subject.system)

    def _fault(self, component: str, kind: str, rows: ProfileRows) -> Reason | None:
        """Why no row of a file can be the component's."""
        of_machine = hardware_fault if kind in ("compute", "attention") else network_fault
        fault = of_machine(self.subject, self.identity.machine_of(kind)) or component_fault(self.subject, component)
        return fault or (block_fault(self.subject, rows) if kind == "compute" else None)

    def _attention_key(self) -> dict[str, Any] | None:
        backend, block_size = self.identity.attention_backend, self.identity.block_size
        return self.subject.attention_key(str(backend), int(block_size or 0))

    def _attention(self, component: str, operator: str, rows: ProfileRows) -> VidurReference:
        key = self._attention_key()
        if key is None:
            reason = Reason("no row", "profiles have steps of one kind of sequence only")
            return not_covered(component, reason, operator)
        found = rows.find(component, operator, key, self.subject.longest_context_tokens)
        appends_within = component == "attention_core" and not rows.is_timed(
            "attn_kv_cache_save", self.subject.heads_key()
        )
        if not (found.is_matched and appends_within):
            return found
        return noted(found, f"{rows.name} has no attn_kv_cache_save: the append may be timed within")

    def _collective(self, activity: ComponentActivity, operator: str, rows: ProfileRows) -> VidurReference:
        network = self.subject.network
        hop = activity.collective == "point_to_point"
        tier = network.pipeline_parallel_network if hop else network.tensor_parallel_network
        key = self.subject.collective_key(activity.ranks, int(activity.message_bytes), tier)
        return rows.find(activity.component, operator, key)


def _half(found: VidurReference) -> VidurReference:
    """One add of the two that were timed together; their kernels do the same work."""
    if found.seconds is None:
        return found
    spread = None if found.spread_seconds is None else found.spread_seconds / 2
    half = replace(found, seconds=found.seconds / 2, spread_seconds=spread)
    return noted(half, f"half of `{found.operator}`, which times both adds of a parallel block")


def no_file(component: str, operator: str) -> VidurReference:
    """No reference, for want of a file of its kind."""
    return not_covered(component, Reason("no file", f"no {OPERATORS[operator]} profile was given"), operator)
