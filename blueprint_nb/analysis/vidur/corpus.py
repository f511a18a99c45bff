"""A checkout of Vidur's profiles: what it holds by hardware, model and TP, and baselines by name.

`evidence.vidur.profile_files` knows where the files are. They are read when asked for; one that can't be is listed with
its fault.
"""

from __future__ import annotations

import os
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from ...errors import BlueprintError, InvalidInputError, unknown_name
from ...evidence.vidur import TENSOR_PARALLEL, profile_files
from .baseline import VidurProfileBaseline
from .names import MODELS, SYSTEMS, stands_for
from .rows import ProfileRows

if TYPE_CHECKING:
    import polars as pl

_NEWER_COMPUTE_FILE: Final = "linear_op.csv"
_NETWORK_KINDS: Final = ("all_reduce", "send_recv")


@dataclass(frozen=True, slots=True)
class CorpusEntry:
    """What a corpus holds of one model on one hardware."""

    hardware: str
    model: str
    compute: Path | None
    attention: Path | None


class VidurCorpus:
    """A folder of profiles: `data/profiling` of Vidur, or a folder that holds it.

    Of a model's `mlp.csv` and `linear_op.csv` the latter is read, which is the newer name. Raises `ProfileError` for a
    folder without profiles, `InvalidInputError` for what is no path.
    """

    def __init__(self, root: str | os.PathLike[str], source_revision: str = "") -> None:
        self.source_revision = source_revision
        files = sorted(profile_files(root), key=lambda file: file.path.name == _NEWER_COMPUTE_FILE)
        self._paths = {(file.kind, file.target, file.model): file.path for file in files}

    @cached_property
    def entries(self) -> tuple[CorpusEntry, ...]:
        """Every hardware and model that there is a file of, sorted."""
        names = {
            (target, model)
            for kind, target, model in self._paths
            if kind == "compute" or (kind == "attention" and model)
        }
        return tuple(
            CorpusEntry(
                hardware,
                model,
                self._paths.get(("compute", hardware, model)),
                self._paths.get(("attention", hardware, model)) or self._shared_attention(hardware),
            )
            for hardware, model in sorted(names)
        )

    @property
    def networks(self) -> tuple[str, ...]:
        """Machines whose collectives were timed, sorted."""
        return tuple(sorted({target for kind, target, model in self._paths if kind in _NETWORK_KINDS and not model}))

    @cached_property
    def frame(self) -> pl.DataFrame:
        """A row for each hardware and model: which of the project's systems and models they stand for, TP, rows, fault.

        Columns: hardware, model (text), systems, models (lists of text), tensor_parallel (list of int64), compute_rows,
        attention_rows (int64, those of the model's heads; null where there is no file) and fault (text, empty where
        every file can be read).
        """
        import polars as pl

        schema = {
            "hardware": pl.String(),
            "model": pl.String(),
            "systems": pl.List(pl.String()),
            "models": pl.List(pl.String()),
            "tensor_parallel": pl.List(pl.Int64()),
            "compute_rows": pl.Int64(),
            "attention_rows": pl.Int64(),
            "fault": pl.String(),
        }
        return pl.DataFrame([_row(entry) for entry in self.entries], schema=schema, orient="row")

    def baseline(
        self,
        hardware: str,
        model: str,
        *,
        network: str | None = None,
        attention_backend: str | None = None,
        block_size: int | None = None,
    ) -> VidurProfileBaseline:
        """The baseline of a model on a hardware, by Vidur's names or the project's; with the collectives of `network`.

        Backend and block size may be left out where the attention file has one. Raises `UnknownNameError` for what
        the corpus does not hold, `InvalidInputError` for a choice left open, `ProfileError` for a file that can't be
        read.
        """
        entry = self._entry(hardware, model)
        if network is not None and network not in self.networks:
            raise unknown_name("network", network, self.networks)
        paths = {"attention": entry.attention, "compute": entry.compute}
        if network is not None:
            paths |= {kind: self._paths.get((kind, network, "")) for kind in _NETWORK_KINDS}
        files = {kind: ProfileRows.read(path, kind) for kind, path in paths.items() if path is not None}
        attention = files.get("attention")
        return VidurProfileBaseline.of_files(
            files,
            model_name=entry.model,
            hardware_name=entry.hardware,
            network_name=network,
            attention_backend=_only("attention_backend", attention_backend, attention),
            block_size=_only("block_size", block_size, attention),
            source_revision=self.source_revision,
        )

    def _shared_attention(self, hardware: str) -> Path | None:
        """The attention file of all models of a hardware."""
        return self._paths.get(("attention", hardware, ""))

    def _entry(self, hardware: str, model: str) -> CorpusEntry:
        of_hardware = [one for one in self.entries if hardware in stands_for(one.hardware, SYSTEMS)]
        if not of_hardware:
            known = sorted({one.hardware for one in self.entries})
            raise unknown_name("hardware", hardware, known)
        found = next((one for one in of_hardware if model in stands_for(one.model, MODELS)), None)
        return found or self._of_attention_alone(of_hardware, model)

    def _of_attention_alone(self, of_hardware: list[CorpusEntry], model: str) -> CorpusEntry:
        """A model that only the attention file of its hardware may have: the file names no model, its heads decide."""
        known = next((name for name in MODELS if model in stands_for(name, MODELS)), None)
        shared = self._shared_attention(of_hardware[0].hardware)
        if known is None or shared is None:
            raise unknown_name("model", model, [one.model for one in of_hardware])
        return CorpusEntry(of_hardware[0].hardware, known, None, shared)


def _only(key: str, chosen: Any, rows: ProfileRows | None) -> Any:
    """`chosen`, else the one value of `key` in an attention file. Raises `InvalidInputError` where it has several."""
    if chosen is not None or rows is None:
        return chosen
    values = rows.distinct(key)
    if len(values) > 1:
        texts = ", ".join(str(value) for value in values)
        raise InvalidInputError(key, got="None", rule=f"must be chosen: {rows.name} has {texts}")
    return values[0] if values else None


def _heads(compute: ProfileRows) -> dict[str, Any]:
    """The heads of a compute file's model, as an attention file has them; empty where it is of several."""
    columns = {"n_embd": "n_embd", "n_head": "n_q_head", "n_kv_head": "n_kv_head"}
    values = {name: compute.distinct(column) for column, name in columns.items()}
    return {name: found[0] for name, found in values.items()} if all(len(v) == 1 for v in values.values()) else {}


def _row(entry: CorpusEntry) -> dict[str, Any]:
    faults: list[str] = []
    compute = _readable(entry.compute, "compute", faults)
    attention = _readable(entry.attention, "attention", faults)
    heads = {} if compute is None else _heads(compute)
    of_compute = [] if compute is None else compute.distinct(TENSOR_PARALLEL)
    of_attention = [] if attention is None else attention.distinct(TENSOR_PARALLEL, heads)
    return {
        "hardware": entry.hardware,
        "model": entry.model,
        "systems": list(SYSTEMS.get(entry.hardware, ())),
        "models": list(MODELS.get(entry.model, ())),
        "tensor_parallel": sorted({*of_compute, *of_attention}),
        "compute_rows": None if compute is None else compute.count({}),
        "attention_rows": None if attention is None else attention.count(heads),
        "fault": " ".join(faults),
    }


def _readable(path: Path | None, kind: str, faults: list[str]) -> ProfileRows | None:
    """The file, where it is there and can be read; why it can't be is added to `faults`."""
    if path is None:
        return None
    try:
        return ProfileRows.read(path, kind)
    except BlueprintError as error:
        faults.append(str(error))
        return None
