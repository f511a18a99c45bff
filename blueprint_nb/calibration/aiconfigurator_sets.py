"""What is fitted to aiconfigurator-core's tables of one serving stack: GEMM, attention, collectives, of each device.

Of every kind of table the stack's newest version is taken, of attention the kernel with most rows. All-gather and
reduce-scatter are NCCL's; the stack's all-reduce is the one that CUDA graphs launch. Products of 8-bit floats are a
family of their own, whose times are those of a stack's whole linear layer: 16-bit activations are quantised within
them. Held out: whole weight shapes, whole configurations of heads, decode contexts over 32,768, and of
collectives rows by chance and four ranks.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from ..catalog import load_system
from ..cost.families import AttentionDecode, AttentionPrefill, Collective, Family, Gemm, Machine, link_of, machine_of
from ..errors import InvalidInputError, one_of
from ..evidence.aiconfigurator import AiconfiguratorImporter, MeasuredTable
from .fit import SEED
from .fitting import Fitting
from .observed import SYSTEMS, system_of
from .splits import folds, up_to
from .study import Part, Study, names, of
from .vidur_sets import collective_splits

if TYPE_CHECKING:
    import polars as pl

SOURCE: Final = "aiconfigurator-core"
STACKS: Final = ("sglang", "vllm")

_DECODE: Final = {
    "vllm_flash_attn": "flash_attention_2",
    "vllm_flash_attn_fa2": "flash_attention_2",
    "vllm_flash_attn_fa3": "flash_attention_3_dynamic",
    "vllm_flashinfer": "generic",
    "vllm_flashinfer_trtllmdecode": "generic",
    "flash_attention": "flash_attention_3_sm80",
    "fa3": "flash_attention_3",
    "flashinfer": "generic",
    "trtllm_mha": "generic",
}
"""The source's name of a kernel to that of its split rule."""

_PREFILL: Final = {
    "vllm_flash_attn": "flash_attention_2",
    "vllm_flash_attn_fa2": "flash_attention_2",
    "vllm_flash_attn_fa3": "flash_attention_3",
    "vllm_flashinfer": "generic",
    "vllm_flashinfer_trtllmprefill": "generic",
    "flash_attention": "flash_attention_3_sm80",
    "fa3": "flash_attention_3",
    "flashinfer": "generic",
    "trtllm_mha": "generic",
}
"""The same to that of its tiling."""

_OWN_BYTES: Final = (0, 2**23)
"""Up to so many bytes a stack may reduce itself; what its documentation says, or not at all, as fits better."""

_GRAPH: Final = "graph"
_ATTENTION_ROWS: Final = 1200
_LONG_CONTEXT: Final = 32_768
_HALVES: Final = ("float16", "bfloat16")
_FLOAT8: Final = "float8"
_FLOAT8_STRENGTH: Final = 3e-4
"""Some of its parameters can't be told apart by these tables, and would end at a bound."""
_FEW_ROWS: Final = 8


@dataclass(frozen=True, eq=False)
class DeviceTables:
    """The observations of one device that make one set."""

    target: str
    name: str
    """Of the set: stack and version."""
    observations: pl.DataFrame


def device_tables(importer: AiconfiguratorImporter, stack: str, targets: Sequence[str] | None) -> list[DeviceTables]:
    """Of every device that has a system, or of `targets`. Raises `UnknownNameError`, `ProfileError`."""
    import polars as pl

    one_of("stack", stack, STACKS)
    found = []
    for target in [one_of("target", name, sorted(SYSTEMS[SOURCE])) for name in targets or sorted(SYSTEMS[SOURCE])]:
        tables = importer.tables(targets=target)
        newest = [table for kind in ("gemm", *_STACK_KINDS) for table in _newest(tables, kind, stack)]
        if not newest or newest[0].kind != "gemm":
            continue
        newest += _newest(tables, "nccl", "nccl")
        observations = pl.concat([importer.read(table).observations for table in newest])
        found.append(DeviceTables(target, f"{stack}-{_short(newest[0].software_version)}", observations))
    if not found:
        raise InvalidInputError(
            "stack",
            got=stack,
            rule=f"has no table of GEMM in {SOURCE} {importer.source_revision}",
            next_step="Use a version of the package that has one.",
        )
    return found


def aiconfigurator_studies(device: DeviceTables) -> list[Study]:
    """Of one device; a family that has no observations has no study."""
    rows = device.observations
    studies = [*_gemm(device.target, rows), *_attention(rows), *_collectives(device.target, rows)]
    return [study for study in studies if len(study.rows)]


_STACK_KINDS: Final = ("context_attention", "generation_attention", "custom_allreduce")


def _newest(tables: Sequence[MeasuredTable], kind: str, software: str) -> list[MeasuredTable]:
    """One table, or none."""
    of_kind = [table for table in tables if (table.kind, table.software) == (kind, software)]
    return sorted(of_kind, key=lambda table: _numbers(table.software_version))[-1:]


def _numbers(version: str) -> tuple[int, ...]:
    return tuple(int(number) for number in re.findall(r"\d+", version)[:3])


def _short(version: str) -> str:
    return ".".join(str(number) for number in _numbers(version)[:2])


def _gemm(target: str, rows: pl.DataFrame) -> Iterator[Study]:
    import polars as pl

    gemm = of(rows, "family", Gemm.name)
    float8 = f"{Gemm.name}:{_FLOAT8}"
    for key, form, datatypes in ((Gemm.name, Gemm(), _HALVES), (float8, Gemm("quantised"), (_FLOAT8,))):
        own = gemm.filter(pl.col("datatype").is_in(datatypes))
        if len(own):
            machine = machine_of(load_system(system_of(SOURCE, target)), str(own["datatype"][0]))
            own = _from_memory(own, machine)
            splits = {"weight shapes out, 4 folds": list(folds(own, ["n", "k"], 4, SEED))}
            is_float8 = key == float8
            fitting = Fitting(start_strength=_FLOAT8_STRENGTH if is_float8 else 0.0)
            yield Study(key, (form,), own, splits, fitting, machine=machine if is_float8 else None)


def _from_memory(rows: pl.DataFrame, machine: Machine) -> pl.DataFrame:
    """Without weights that the profiler's repeats found in the cache, where a model's next layer does not.

    They are known by octave of their bytes: few rows (m ≤ 8) take less than the memory needs for the weights alone, in
    the median of that octave or of one of larger weights.
    """
    import polars as pl

    size = pl.col("n") * pl.col("k") * machine.element_bytes
    octave = size.log(2).floor()
    few = rows.filter(pl.col("m") <= _FEW_ROWS).group_by(octave.alias("octave"))
    speed = few.agg((size / pl.col("seconds")).median().alias("bytes_per_second"))
    cached = speed.filter(pl.col("bytes_per_second") > machine.bytes_per_second)["octave"]
    return rows if cached.is_empty() else rows.filter(octave > cached.max())


def _attention(rows: pl.DataFrame) -> Iterator[Study]:
    import polars as pl

    for name, kernels in ((AttentionDecode.name, _DECODE), (AttentionPrefill.name, _PREFILL)):
        known = of(rows, "family", name).filter(
            pl.col("kernel").is_in(list(kernels)) & pl.col("datatype").is_in(_HALVES)
        )
        if name == AttentionPrefill.name:
            known = known.filter(pl.col("query_tokens") > 1)
        if not len(known):
            continue
        counts = known.group_by("kernel").len().sort("len", "kernel", descending=[True, False])
        kernel = str(counts["kernel"][0])
        own = of(known, "kernel", kernel)
        form: Family = AttentionDecode(kernels[kernel])
        if name == AttentionPrefill.name:
            form = AttentionPrefill(kernels[kernel])
        heads = ["heads", "kv_heads", "head_size"]
        splits: dict[str, list[Part]] = {"configurations of heads out, 3 folds": list(folds(own, heads, 3, SEED))}
        if name == AttentionDecode.name:
            longer = list(up_to(own, "context_tokens", _LONG_CONTEXT))
            splits |= {f"contexts over {_LONG_CONTEXT:,} out": longer} if longer else {}
        yield Study(name, (form,), own, splits, fitting=Fitting(rows=_ATTENTION_ROWS))


def _collectives(target: str, rows: pl.DataFrame) -> Iterator[Study]:
    """All-reduce of the stack, the others of NCCL."""
    import polars as pl

    tier = load_system(system_of(SOURCE, target)).network[0]
    link = link_of(tier)
    for kind in ("all_reduce", "all_gather", "reduce_scatter"):
        own = of(rows, "family", kind).filter(pl.col("datatype").is_in(_HALVES))
        is_stack = kind == "all_reduce"
        own = own.filter(pl.col("kernel").str.ends_with(_GRAPH) if is_stack else pl.col("software") == "nccl")
        if not len(own):
            continue
        forms = tuple(Collective(kind, link, own_bytes=most) for most in (_OWN_BYTES if is_stack else (0,)))
        software = " ".join((names(own, "software")[0], names(own, "software_version")[0]))
        yield Study(f"{kind}@{tier.name}", forms, own, collective_splits(own), link=link, software=software)
