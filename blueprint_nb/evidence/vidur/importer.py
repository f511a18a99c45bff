"""Vidur's profile files as observations: each time of each row, with the work of one rank behind it.

A file times up to ten operators a row, each an observation; duplicate keys stay rows of their own, with one sample
each and the spread of the profiler's repeats where the file has it. A time that can't be one is left out and counted.
The `add` of a parallel block is two kernels in one time, the work of neither, and is left out too. Files say neither
software nor norm: both are arguments, and a norm is RMSNorm but for models known otherwise. Files without
`attn_kv_cache_save` append to the cache within attention, which their kernel's name says with `+kv_save`.
"""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

import numpy as np

from ...errors import BlueprintError, one_of
from ..checks import checked
from ..imported import Imported, merged
from ..observations import no_observations, observation_frame
from .blocks import has_two_adds
from .columns import DATATYPE, KINDS, TENSOR_PARALLEL
from .layout import HOST, profile_files
from .overheads import read_overheads
from .rank_work import Work, attention_work, collective_work, compute_work, misfits
from .reader import read_profile
from .refusals import refusal
from .table import ProfileTable

__all__ = ["APPENDS", "VidurProfileImporter"]

APPENDS: Final = "+kv_save"
"""Ends the kernel's name where attention also appends to the KV cache."""

_NORMS: Final = ("rms_norm", "layer_norm")
_TWO_ADDS: Final = "must time one add: a block without post_attention_layernorm runs two"
_MAY_LACK: Final = ("devices_per_node", "block_size", "attention_backend", "max_model_len")


@dataclass(frozen=True, slots=True, kw_only=True)
class VidurProfileImporter:
    """Reads profiles of one revision of Vidur."""

    source_revision: str
    """Of the project or the file: a commit, a blob."""
    software: str = "vidur"
    """What ran the kernels. The files do not say, so it is their source until someone knows better."""
    software_version: str = ""
    layer_norm_models: frozenset[str] = frozenset({"microsoft/phi-2"})
    """Vidur's names of models whose norms are LayerNorm."""

    def read(
        self, path: str | os.PathLike[str], kind: str, *, target: str, model: str = "", norm: str | None = None
    ) -> Imported:
        """The file at `path`, of a `kind` in `KINDS` or `cpu_overheads`, measured on `target`.

        `model` names the model that a compute or attention file is of. Raises `ProfileError` for a file that can't be
        read rightly or lacks a key that its work needs, `InvalidInputError` for what is no path, kind or norm.
        """
        if one_of("kind", kind, (*KINDS, HOST)) == HOST:
            return self._host(path, target)
        if norm is not None:
            one_of("norm", norm, _NORMS)
        norm = norm or ("layer_norm" if model in self.layer_norm_models else "rms_norm")
        table = read_profile(path, kind, with_spread=True)
        for name in (key.name for key in table.kind.keys):
            if table.milliseconds and name not in table.keys and name not in _MAY_LACK:
                raise refusal(table.file, f"must have the column {name}, which its work is known by")
        return self._observed(table, _work(table, norm), {"target": target, "model": model})

    def read_folder(self, root: str | os.PathLike[str]) -> Imported:
        """Every profile in `root`, as `profile_files` finds them; one that can't be read is counted with its error.

        Raises `ProfileError` where there is none.
        """
        return merged(self._each(root))

    def _each(self, root: str | os.PathLike[str]) -> Iterator[Imported]:
        for file in profile_files(root):
            try:
                yield self.read(file.path, file.kind, target=file.target, model=file.model)
            except BlueprintError as error:
                yield Imported(no_observations(), {str(error): 1})

    def _observed(self, table: ProfileTable, work: Mapping[str, Work], constants: dict[str, Any]) -> Imported:
        skipped: Counter[str] = Counter()
        fits = np.ones(len(table), dtype=np.bool_)
        broken = []
        for rule, rows in misfits(table.keys) if work and TENSOR_PARALLEL in table.keys else ():
            broken.append((rule, rows & fits))
            fits = fits & ~rows
        frames = []
        for operator in (name for name in work if name in table.milliseconds):
            milliseconds = table.milliseconds[operator]
            measured = ~np.isnan(milliseconds)
            skipped.update(fault.rule for fault in table.faults[operator].values())
            skipped.update({rule: int((rows & measured).sum()) for rule, rows in broken})
            usable = measured & fits
            if operator == "add":
                two = has_two_adds(table)
                skipped[_TWO_ADDS] += int((two & usable).sum())
                usable &= ~two
            chosen = np.flatnonzero(usable)
            columns = _columns(table, operator, work[operator], chosen)
            frames.append(self._frame(columns, table.sha256, component=operator, datatype=DATATYPE, **constants))
        return _checked(frames, skipped)

    def _host(self, path: str | os.PathLike[str], target: str) -> Imported:
        table = read_overheads(path)
        name = Path(path).name
        frames = []
        for operation, milliseconds in table.milliseconds.items():
            chosen = np.flatnonzero(~np.isnan(milliseconds))
            columns = {
                "seconds": milliseconds[chosen] / 1000,
                "model": [table.models[row] for row in chosen],
                "batch": table.keys["batch_size"][chosen],
                "tensor_parallel": table.keys["tensor_parallel_degree"][chosen],
                "record": [f"{name}:{line}" for line in table.lines[chosen]],
            }
            frames.append(self._frame(columns, table.sha256, target=target, family="host", component=operation))
        return _checked(frames, Counter(rule for rules in table.faults.values() for rule in rules))

    def _frame(self, columns: Mapping[str, Any], sha256: str, **constants: Any) -> Any:
        return observation_frame(
            columns,
            source="vidur",
            source_revision=self.source_revision,
            software=self.software,
            software_version=self.software_version,
            file_sha256=sha256,
            licence="MIT",
            **constants,
        )


def _work(table: ProfileTable, norm: str) -> dict[str, Work]:
    if not table.milliseconds:
        return {}
    if table.kind.name == "compute":
        return compute_work(table.keys, norm)
    return attention_work(table.keys) if table.kind.name == "attention" else collective_work(table.keys)


def _columns(table: ProfileTable, operator: str, work: Work, chosen: Any) -> dict[str, Any]:
    import polars as pl

    name = Path(table.file).name
    columns: dict[str, Any] = {column: values[chosen] for column, values in work.shape.items()}
    columns["family"] = work.family if isinstance(work.family, str) else work.family[chosen]
    columns["seconds"] = table.milliseconds[operator][chosen] / 1000
    columns["record"] = [f"{name}:{line}" for line in table.lines[chosen]]
    if operator in table.spread_milliseconds:
        columns["spread_seconds"] = pl.Series(table.spread_milliseconds[operator][chosen] / 1000).fill_nan(None)
    if TENSOR_PARALLEL in table.keys:
        columns["tensor_parallel"] = table.keys[TENSOR_PARALLEL][chosen]
    if table.kind.name == "attention":
        appends = APPENDS if "attn_kv_cache_save" not in table.milliseconds else ""
        backends = table.keys.get("attention_backend", np.full(len(table), "", dtype=object))
        columns["kernel"] = [f"{backend}{appends}" for backend in backends[chosen]]
    return columns


def _checked(frames: list[Any], skipped: Counter[str]) -> Imported:
    import polars as pl

    frame = pl.concat(frames) if frames else no_observations()
    return Imported(checked(frame), {reason: count for reason, count in skipped.items() if count})
