"""Vidur's profiles as an oracle: look-ups of measured kernel times, and nothing that costing could take.

Two layers. `lookup` takes a file's own dimensions. `references` takes a finished plan and matches each of its
components only where model, hardware, datatype, dimensions, heads, TP, tokens, chunk, cache and backend all are those
of a row. What is missing is `not-covered`, with its reason: nothing is interpolated. Times are GPU kernel time of one
rank, without launch gaps, from a timer of 1 µs.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from types import MappingProxyType
from typing import Any, Final, Self

from ..._canonical import digest
from ...errors import InvalidInputError, shown
from ...evidence.vidur import OPERATORS
from ..oracle import ReadCount, require_open_oracle
from .identity import BaselineIdentity
from .keyed_work import hardware_system, keyed_activity
from .keys import backend_name, checked_key
from .matching import Matching, no_file
from .operators import NO_OPERATOR, name_of, operator_of
from .plausibility import judged
from .reference import VidurReference, not_covered
from .rows import ProfileRows
from .subject import Subject
from .topology import topology_equivalence

Path = str | os.PathLike[str]

_KINDS: Final = ("attention", "compute", "all_reduce", "send_recv")


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
            for name, value in (("attention_backend", attention_backend), ("block_size", block_size)):
                if value is None:
                    raise InvalidInputError(name, got="None", rule="is required with attention_csv")
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
        model_name: str,
        hardware_name: str,
        network_name: str | None,
        attention_backend: str | None,
        block_size: int | None,
        source_revision: str,
    ) -> Self:
        """The baseline of files that were read, by kind. Raises `InvalidInputError`."""
        identity = BaselineIdentity(
            model_name=model_name,
            hardware_name=hardware_name,
            network_name=hardware_name if network_name is None else network_name,
            attention_backend=None if attention_backend is None else backend_name(attention_backend),
            block_size=block_size,
            source_revision=source_revision,
        )
        return cls(identity, tuple(files.items()))

    def __repr__(self) -> str:
        held = ", ".join(f"{kind} {len(rows.table):,} rows" for kind, rows in self.kinds) or "no file"
        return f"VidurProfileBaseline({self.identity.model_name} on {self.identity.hardware_name}: {held})"

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
        column may be left out where the rows agree in it. A column's time is given as it is: that of `add` is of both
        adds where residuals are parallel. Raises `UnknownNameError` for another component,
        `InvalidInputError` for what is no key, `OracleError` while an estimate is being made.
        """
        require_open_oracle(self.reads)
        if not isinstance(key, Mapping):
            raise InvalidInputError("key", got=shown(key), rule="must map key columns of the file to values")
        operator = operator_of(component, is_prefill=False)
        if operator is None:
            return not_covered(component, NO_OPERATOR[component])
        name = name_of(component)
        rows = self.files.get(OPERATORS[operator])
        if rows is None:
            return no_file(name, operator)
        checked = checked_key(key, rows)
        if component == "attention_core" and rows.distinct("is_prefill", checked) == [1]:
            operator = "attn_prefill"
        found = rows.find(name, operator, checked)
        activity = keyed_activity(name, rows.completed(operator, checked)) if found.is_matched else None
        if activity is None:
            return found
        return judged(found, activity, hardware_system(self.identity.machine_of(OPERATORS[operator])))

    def references(self, subject: Subject) -> tuple[VidurReference, ...]:
        """The reference of every component of a finished plan, or the reason for none, in plan order.

        Raises `OracleError` while an estimate is being made.
        """
        require_open_oracle(self.reads)
        return Matching(self.identity, self.files, subject).references()

    def measured_contexts(self, subject: Subject) -> list[int]:
        """Visible contexts of decode steps like `subject` that an attention file has rows of. Reads no time."""
        return Matching(self.identity, self.files, subject).measured_contexts()

    def topology_equivalence(self, subject: Subject) -> str:
        """What may be said of the block that the profile was measured on."""
        return topology_equivalence(subject, self.identity.model_name, self.files.get("compute"))
