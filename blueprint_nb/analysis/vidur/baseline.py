"""Vidur's profiles as an oracle: look-ups of measured kernel times, and nothing that costing could take.

Two layers. `lookup` takes a file's own dimensions. `references` takes a finished plan and matches each of its
components only where model, hardware, datatype, dimensions, heads, TP, tokens, chunk, cache and backend all are those
of a row. What is missing is `not-covered`, with its reason: nothing is interpolated. Times are GPU kernel time of one
rank, without launch gaps, from a timer of 1 µs.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from types import MappingProxyType
from typing import Annotated, Any, Final, Self

from pydantic import AfterValidator

from ..._canonical import digest
from ..._schema import Count, Record, Text
from ...cost import ComponentActivity, plan_activity
from ...errors import InvalidInputError, shown
from ...evidence.vidur import OPERATORS
from ..oracle import ReadCount, require_open_oracle
from .keyed_work import hardware_system, keyed_activity
from .keys import backend_name, checked_key
from .operators import REFUSED, UNTIMED_REASON, name_of, operator_of
from .plausibility import judged
from .reference import Reason, VidurReference, not_covered
from .rows import ProfileRows
from .subject import Subject
from .topology import (
    block_fault,
    component_fault,
    hardware_fault,
    identity_fault,
    network_fault,
    topology_equivalence,
)

Path = str | os.PathLike[str]

_KINDS: Final = ("attention", "compute", "all_reduce", "send_recv")


def _name(value: object) -> object:
    if value == "":
        raise InvalidInputError("", got="''", rule="must not be empty")
    return value


Name = Annotated[Text, AfterValidator(_name)]
"""Text of at least one sign."""


class BaselineIdentity(Record):
    """What a baseline's files are of. Raises `InvalidInputError`."""

    model_name: Name
    hardware_name: Name
    network_name: Name
    """Of the machine whose collectives were timed."""
    attention_backend: Text | None
    block_size: Count | None
    """Tokens in a block of the KV cache."""
    source_revision: Text
    """Of the project that the files come from."""


@dataclass(frozen=True, eq=False)
class VidurProfileBaseline:
    """Profile files of one model on one hardware. An oracle: it offers look-ups only."""

    identity: BaselineIdentity
    kinds: tuple[tuple[str, ProfileRows], ...]
    """(Kind of file, its rows)."""
    reads: ReadCount = field(default_factory=ReadCount)
    """How often a reference was asked for."""

    @classmethod
    def from_csv(
        cls,
        *,
        attention_csv: Path | None = None,
        compute_csv: Path | None = None,
        model_name: str,
        hardware_name: str,
        attention_backend: str | None = None,
        block_size: int | None = None,
        source_revision: str,
        all_reduce_csv: Path | None = None,
        send_recv_csv: Path | None = None,
        network_name: str | None = None,
    ) -> Self:
        """Reads the files; components of those left out are not covered.

        `network_name` is the machine whose collectives were timed, where it is not `hardware_name`. Raises
        `ProfileError` with file, line and column for what can't be read, `InvalidInputError` for the rest.
        """
        if attention_csv is not None:
            for field, value in (("attention_backend", attention_backend), ("block_size", block_size)):
                if value is None:
                    raise InvalidInputError(field, got="None", rule="is required with attention_csv")
        paths = dict(zip(_KINDS, (attention_csv, compute_csv, all_reduce_csv, send_recv_csv), strict=True))
        files = {kind: ProfileRows.read(path, kind) for kind, path in paths.items() if path is not None}
        return cls.of_files(
            files,
            model_name=model_name,
            hardware_name=hardware_name,
            network_name=network_name,
            attention_backend=attention_backend,
            block_size=block_size,
            source_revision=source_revision,
        )

    @classmethod
    def of_files(
        cls,
        files: Mapping[str, ProfileRows],
        *,
        hardware_name: str,
        network_name: str | None,
        attention_backend: str | None,
        **names: Any,
    ) -> Self:
        """The baseline of files that were read, by kind. Raises `InvalidInputError`."""
        identity = BaselineIdentity(
            hardware_name=hardware_name,
            network_name=hardware_name if network_name is None else network_name,
            attention_backend=None if attention_backend is None else backend_name(attention_backend),
            **names,
        )
        return cls(identity, tuple(files.items()))

    @property
    def files(self) -> Mapping[str, ProfileRows]:
        """Kind of file to its rows."""
        return MappingProxyType(dict(self.kinds))

    @cached_property
    def revision(self) -> str:
        """Digest of the files' bytes and of their identity."""
        return digest({"identity": self.identity, "files": self.file_digests})

    @property
    def file_digests(self) -> dict[str, str]:
        """Kind of file to the SHA-256 of its bytes."""
        return {kind: rows.table.sha256 for kind, rows in self.files.items()}

    def lookup(self, component: str, key: Mapping[str, Any]) -> VidurReference:
        """The reference of a component at a file's own dimensions, or the reason for none.

        `component` is a component's name or an operator's as in a file; `key` maps a file's key columns to values. A
        column may be left out where the rows agree in it. Raises `UnknownNameError` for another component,
        `InvalidInputError` for what is no key, `OracleError` while an estimate is being made.
        """
        require_open_oracle(self.reads)
        if not isinstance(key, Mapping):
            raise InvalidInputError("key", got=shown(key), rule="must map key columns of the file to values")
        operator = operator_of(component, is_prefill=False)
        if operator is None:
            return not_covered(component, REFUSED.get(component, UNTIMED_REASON))
        name = name_of(component)
        rows = self.files.get(OPERATORS[operator])
        if rows is None:
            return _no_file(name, operator)
        checked = checked_key(key, rows)
        if component == "attention_core" and rows.distinct("is_prefill", checked) == [1]:
            operator = "attn_prefill"
        found = rows.find(name, operator, checked)
        activity = keyed_activity(name, rows.completed(operator, checked)) if found.is_matched else None
        if activity is None:
            return found
        return judged(found, activity, hardware_system(self._machine(OPERATORS[operator])))

    def references(self, subject: Subject) -> tuple[VidurReference, ...]:
        """The reference of every component of a finished plan, or the reason for none, in plan order.

        Raises `OracleError` while an estimate is being made.
        """
        require_open_oracle(self.reads)
        fault = identity_fault(subject, self.identity.model_name)
        components = plan_activity(subject.plan).components
        if fault:
            return tuple(not_covered(activity.component, fault) for activity in components)
        return tuple(self._reference(subject, activity) for activity in components)

    def measured_contexts(self, subject: Subject) -> list[int]:
        """Visible contexts of decode steps like `subject` that an attention file has rows of. Reads no time."""
        rows = self.files.get("attention")
        if rows is None:
            return []
        key = subject.attention_key(str(self.identity.attention_backend), int(self.identity.block_size or 0)) or {}
        like = {column: value for column, value in key.items() if column != "kv_cache_size"}
        return [cached + 1 for cached in rows.distinct("kv_cache_size", like)]

    def _reference(self, subject: Subject, activity: ComponentActivity) -> VidurReference:
        component = activity.component
        operator = operator_of(component, subject.is_prefill)
        if operator is None:
            return not_covered(component, REFUSED.get(component, UNTIMED_REASON))
        kind = OPERATORS[operator]
        rows = self.files.get(kind)
        if rows is None:
            return _no_file(component, operator)
        fault = self._machine_fault(subject, kind) or component_fault(subject, component)
        if kind == "compute":
            fault = fault or block_fault(subject, rows)
        if fault:
            return not_covered(component, fault, operator)
        if kind == "compute":
            found = rows.find(component, operator, subject.compute_key())
        elif kind == "attention":
            found = self._attention(subject, component, operator, rows)
        else:
            found = _collective(subject, activity, operator, rows)
        return judged(found, activity, subject.system)

    def _machine(self, kind: str) -> str:
        return self.identity.hardware_name if kind in ("compute", "attention") else self.identity.network_name

    def _machine_fault(self, subject: Subject, kind: str) -> Reason | None:
        fault = hardware_fault if kind in ("compute", "attention") else network_fault
        return fault(subject, self._machine(kind))

    def topology_equivalence(self, subject: Subject) -> str:
        """What may be said of the block that the profile was measured on."""
        return topology_equivalence(subject, self.identity.model_name, self.files.get("compute"))

    def _attention(self, subject: Subject, component: str, operator: str, rows: ProfileRows) -> VidurReference:
        backend, block_size = self.identity.attention_backend, self.identity.block_size
        key = subject.attention_key(str(backend), int(block_size or 0))
        if key is None:
            return not_covered(
                component, Reason("no row", "profiles have steps of one kind of sequence only"), operator
            )
        found = rows.find(component, operator, key, subject.longest_context_tokens)
        if (
            found.is_matched
            and component == "attention_core"
            and not rows.is_timed("attn_kv_cache_save", subject.heads_key)
        ):
            note = f"{rows.name} has no attn_kv_cache_save: the append may be timed within"
            return replace(found, note=note)
        return found


def _collective(subject: Subject, activity: ComponentActivity, operator: str, rows: ProfileRows) -> VidurReference:
    network = subject.network
    hop = activity.collective == "point_to_point"
    tier = network.pipeline_parallel_network if hop else network.tensor_parallel_network
    key = subject.collective_key(activity.ranks, int(activity.message_bytes), tier)
    return rows.find(activity.component, operator, key)


def _no_file(component: str, operator: str) -> VidurReference:
    return not_covered(component, Reason("no file", f"no {OPERATORS[operator]} profile was given"), operator)
