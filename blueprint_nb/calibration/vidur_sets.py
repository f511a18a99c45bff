"""What is fitted to Vidur's profiles: GEMM and row-wise kernels of three devices, attention of one, one network.

Held out of the former: each model with every shape that it shares with others, and each hidden size. Attention was
timed with one configuration of heads, so bands of batches and chunk sizes are held out; of collectives, rows by chance
and a number of ranks.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from ..catalog import load_system
from ..cost.families import AttentionDecode, AttentionPrefill, Collective, Embedding, Family, Gemm, link_of
from ..cost.families.row_wise import NORMS, ROW_WISE
from .fit import SEED
from .fitting import Fitting
from .observed import system_of
from .splits import folds, leave_one_hidden_size_out, leave_one_model_out, without_value
from .study import Part, Study, of

if TYPE_CHECKING:
    import polars as pl

FAMILIES: Final[tuple[Family, ...]] = (Gemm(), *ROW_WISE, Embedding())
"""Those of blocks, each of whose models is held out."""

HELD_OUT_MODEL: Final = "leave-one-model-out, shared shapes purged"
RANKS_OUT: Final = "4 ranks out"
HELD_OUT_HIDDEN_SIZE: Final = "leave-one-hidden-size-out, shared shapes purged"

_KERNEL: Final = "flash_attention_2_kvcache"
_ATTENTION_ROWS: Final = 900
_FITTINGS: Final = {
    # Most rows are prefill; with half of the weight alike for all, decode and prefill both err less on models left out.
    "gemm": Fitting(row_share=0.5),
    # Widths of one hidden size tell little of another's; the other devices tell more.
    "gated_activation": Fitting(pool_strength=3e-2),
}
"""Of families that are not fitted as others are."""

_NETWORK_ROWS: Final = 900
_NETWORK_ROW_SHARE: Final = 0.8
"""Below 2 MB the times are erratic, by 30 % and more; most rows are larger."""

_BAND: Final = 4
"""Batches next to each other that are held out together."""

_STEADY_BYTES: Final = 2 * 10**6
"""All-reduces of less scatter by a factor of ten on one machine, as if ranks had started apart."""

_COLLECTIVES: Final = ("all_reduce", "point_to_point")


def vidur_studies(observations: pl.DataFrame) -> list[Study]:
    """Of the observations of one revision; a family that has none has no study."""
    studies = [*_block(observations), *_attention(observations), *_collectives(observations)]
    return [study for study in studies if len(study.rows)]


def _block(observations: pl.DataFrame) -> list[Study]:
    import polars as pl

    norms = observations.filter(pl.col("family").is_in([norm.name for norm in NORMS]))
    studies = []
    for family in FAMILIES:
        rows = of(observations, "family", family.name)
        splits = {
            HELD_OUT_MODEL: list(leave_one_model_out(rows, family.name)),
            HELD_OUT_HIDDEN_SIZE: list(leave_one_hidden_size_out(rows, family.name, norms)),
        }
        fitting = _FITTINGS.get(family.name, Fitting())
        studies.append(Study(family.name, (family,), rows, splits, fitting, joins_residuals=True))
    return studies


def _attention(observations: pl.DataFrame) -> list[Study]:
    import polars as pl

    decode = of(observations, "family", AttentionDecode.name)
    decode = decode.with_columns(((pl.col("batch") - 1) // _BAND).alias("band"))
    prefill = of(observations, "family", AttentionPrefill.name)
    by_band = [_without_column(part) for part in folds(decode, ["band"], 4, SEED)]
    by_chunk = list(folds(prefill, ["query_tokens"], 4, SEED))
    return [
        Study(
            AttentionDecode.name,
            (AttentionDecode(_KERNEL),),
            decode.drop("band"),
            {f"bands of {_BAND} batches out, 4 folds": by_band},
            Fitting(rows=_ATTENTION_ROWS),
        ),
        Study(
            AttentionPrefill.name,
            (AttentionPrefill(_KERNEL),),
            prefill,
            {"chunk sizes out, 4 folds": by_chunk},
            Fitting(rows=_ATTENTION_ROWS),
        ),
    ]


def _without_column(part: Part) -> Part:
    name, train, test = part
    return name, train.drop("band"), test.drop("band")


def _collectives(observations: pl.DataFrame) -> list[Study]:
    """Inside one box, where all ranks are in it; from one box to another where each rank is alone in its own."""
    import polars as pl

    steady = (pl.col("family") != "all_reduce") | (pl.col("message_bytes") >= _STEADY_BYTES)
    inside = observations.filter((pl.col("ranks") == pl.col("devices_per_node")) & steady)
    across = observations.filter((pl.col("devices_per_node") == 1) & (pl.col("family") == "point_to_point"))
    studies = []
    for kind in _COLLECTIVES:
        for rows, tier in ((of(inside, "family", kind), 0), (of(across, "family", kind), -1)):
            for target in rows["target"].unique().sort():
                own = of(rows, "target", target)
                network = load_system(system_of("vidur", target)).network[tier]
                link = link_of(network)
                studies.append(
                    Study(
                        f"{kind}@{network.name}",
                        (Collective(kind, link),),
                        own,
                        collective_splits(own),
                        Fitting(rows=_NETWORK_ROWS, row_share=_NETWORK_ROW_SHARE),
                        link=link,
                    )
                )
    return studies


def collective_splits(rows: pl.DataFrame) -> dict[str, list[Part]]:
    """Rows by chance in five folds, and four ranks, which lie between two and eight."""
    splits = {
        "rows out, 5 folds": list(folds(rows, ["message_bytes", "ranks"], 5, SEED)),
        RANKS_OUT: list(without_value(rows, "ranks", 4)),
    }
    return {label: parts for label, parts in splits.items() if parts}
