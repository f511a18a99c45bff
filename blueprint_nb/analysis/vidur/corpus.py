"""A checkout of Vidur's profiles: what it holds by hardware, model and TP, and baselines by name.

Layouts of all versions are known: `compute/<hardware>/<model>/{mlp,linear_op}.csv`, with an `attention.csv` beside it
or under `attention/<hardware>/[<model>/]`, and `network/<machine>/{all_reduce,send_recv}.csv`. Files are read when
asked for; one that can't be is listed with its fault.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from ...errors import BlueprintError, InvalidInputError, ProfileError, shown, unknown_name
from ...evidence.vidur import read_profile
from .baseline import VidurProfileBaseline
from .names import MODELS, SYSTEMS, stands_for
from .rows import ProfileRows

if TYPE_CHECKING:
    import polars as pl

_ROOTS: Final = (".", "profiling", "data/profiling")
_COMPUTE_FILES: Final = ("mlp.csv", "linear_op.csv")
_ATTENTION_FILES: Final = ("attention.csv",)
NETWORK_KINDS: Final = ("all_reduce", "send_recv")


@dataclass(frozen=True, slots=True)
class CorpusEntry:
    """What a corpus holds of one model on one hardware."""

    hardware: str
    model: str
    compute: Path | None
    attention: Path | None


@dataclass(frozen=True, eq=False)
class VidurCorpus:
    """A folder of profiles: `data/profiling` of Vidur, or a folder that holds it. Raises `ProfileError`."""

    root: Path
    source_revision: str

    def __init__(self, root: str | os.PathLike[str], source_revision: str = "") -> None:
        if not isinstance(root, (str, os.PathLike)) or not isinstance(os.fspath(root), str):
            raise InvalidInputError("root", got=shown(root), rule="must be the path of a folder")
        candidates = [Path(root) / folder for folder in _ROOTS]
        found = next(
            (path for path in candidates if any((path / part).is_dir() for part in ("compute", "attention"))), None
        )
        if found is None:
            raise ProfileError(
                str(root),
                rule="holds no Vidur profiles: there is no folder compute or attention in it",
                next_step="Name the folder data/profiling of a checkout of Vidur.",
            )
        object.__setattr__(self, "root", found)
        object.__setattr__(self, "source_revision", source_revision)

    @cached_property
    def entries(self) -> tuple[CorpusEntry, ...]:
        """Every hardware and model that there is a file of, sorted."""
        compute, attention = dict(self._by_model("compute", _COMPUTE_FILES)), self._attention
        names = sorted({*compute, *(key for key in attention if key[1])})
        return tuple(
            CorpusEntry(*key, compute.get(key), attention.get(key) or attention.get((key[0], ""))) for key in names
        )

    @cached_property
    def _attention(self) -> dict[tuple[str, str], Path]:
        shared = dict(self._by_model("attention", _ATTENTION_FILES))
        return shared | dict(self._by_model("compute", _ATTENTION_FILES))

    @property
    def networks(self) -> tuple[str, ...]:
        """Machines whose collectives were timed, sorted."""
        files = (path for kind in NETWORK_KINDS for path in (self.root / "network").glob(f"*/{kind}.csv"))
        return tuple(sorted({path.parent.name for path in files}))

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
        for kind in NETWORK_KINDS:
            paths[kind] = self._network_file(network, f"{kind}.csv")
        files = {kind: ProfileRows(read_profile(path, kind)) for kind, path in paths.items() if path is not None}
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

    def _by_model(self, part: str, files: tuple[str, ...]) -> Iterator[tuple[tuple[str, str], Path]]:
        """(hardware, model) to file; the model is "" where the file is beside the models."""
        for name in files:
            for path in sorted((self.root / part).glob(f"*/**/{name}")):
                hardware, *model = path.parent.relative_to(self.root / part).parts
                yield (hardware, "/".join(model)), path

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
        shared = self._attention.get((of_hardware[0].hardware, ""))
        if known is None or shared is None:
            raise unknown_name("model", model, [one.model for one in of_hardware])
        return CorpusEntry(of_hardware[0].hardware, known, None, shared)

    def _network_file(self, network: str | None, name: str) -> Path | None:
        path = None if network is None else self.root / "network" / network / name
        return path if path is not None and path.is_file() else None


def _only(key: str, chosen: Any, rows: ProfileRows | None) -> Any:
    """`chosen`, else the one value of `key` in an attention file. Raises `InvalidInputError` where it has several."""
    values = [] if rows is None else rows.distinct(key)
    if chosen is not None or not values:
        return chosen
    if len(values) > 1:
        texts = ", ".join(str(value) for value in values)
        raise InvalidInputError(key, got="None", rule=f"must be chosen: {rows and rows.name} has {texts}")
    return values[0]


def _heads(compute: ProfileRows) -> dict[str, Any]:
    """The heads of a compute file's model, as an attention file has them; empty where it is of several."""
    columns = {"n_embd": "n_embd", "n_head": "n_q_head", "n_kv_head": "n_kv_head"}
    values = {name: compute.distinct(column) for column, name in columns.items()}
    return {name: found[0] for name, found in values.items()} if all(len(v) == 1 for v in values.values()) else {}


def _row(entry: CorpusEntry) -> dict[str, Any]:
    row: dict[str, Any] = {
        "hardware": entry.hardware,
        "model": entry.model,
        "systems": list(SYSTEMS.get(entry.hardware, ())),
        "models": list(MODELS.get(entry.model, ())),
        "compute_rows": None,
        "attention_rows": None,
        "fault": "",
    }
    tensor_parallel: set[int] = set()
    heads: dict[str, Any] = {}
    for kind, path in (("compute", entry.compute), ("attention", entry.attention)):
        if path is None:
            continue
        try:
            rows = ProfileRows(read_profile(path, kind))
        except BlueprintError as error:
            row["fault"] = f"{row['fault']} {error}".strip()
            continue
        row[f"{kind}_rows"] = rows.count(heads)
        tensor_parallel.update(rows.distinct("num_tensor_parallel_workers", heads))
        heads = _heads(rows)
    return {**row, "tensor_parallel": sorted(tensor_parallel)}
