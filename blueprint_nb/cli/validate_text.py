"""A validation as text: for each split the errors of every predictor, then by family and octave, then the bands."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

import polars as pl

from ..calibration.predict_calibrated import CALIBRATED
from ..calibration.predict_learned import LEARNED
from ..calibration.validate import Validation
from ..calibration.validate_bands import SUBTOTAL
from ..calibration.validate_figures import ALL
from ..units import NO_FIGURE, format_count, three_digits
from .tables import Column, table, wrapped

_KEYS: Final = ["split", "target", "predictor"]

_LEGEND: Final = (
    "Errors are |estimate / measured − 1|, each row counted alone. Balanced: over octaves of size and components, each "
    "counting the same. Max: of rows that are more than 1 µs off. Block: of the sum of a decoder block's components "
    "without its attention core, in which errors cancel."
)

_LAYER: Final = (
    "It learns from the same rows as the calibrated forms and corrects them near shapes that were measured. Families "
    "that it leaves alone are left out."
)

_BANDS: Final = (
    "Held: how many held-out times lie within the 90 % band about their estimate, which was made of the errors on "
    "other models or devices. Width: of the band over the estimate, on the mean."
)


def validation_text(validation: Validation) -> str:
    """Tables of at most 100 columns."""
    parts = [wrapped(f"{_LEGEND} {_tokens(validation)}")]
    for split in validation.splits:
        parts += [_errors(validation, split), _families(validation, split), _layer(validation, split)]
    parts += [_octaves(validation, validation.splits[0]), _coverage(validation)]
    return "\n\n".join(filter(None, parts))


def _tokens(validation: Validation) -> str:
    sizes = validation.rows["size"].to_list()
    return f"Rows are of {format_count(min(sizes))} to {format_count(max(sizes))} tokens; of more they say nothing."


def _errors(validation: Validation, split: str) -> str:
    rows = validation.errors.filter(pl.col("split") == split, pl.col("family") == ALL)
    blocks = pl.DataFrame(schema={**dict.fromkeys(_KEYS, pl.String()), "mape_percent": pl.Float64()})
    if len(validation.subtotals):
        blocks = validation.subtotals.select(*_KEYS, "mape_percent")
    rows = rows.join(blocks, on=_KEYS, how="left", suffix="_of_blocks", maintain_order="left")
    columns = [
        Column("GPU", once(rows["target"].to_list()), align="left"),
        Column("predictor", rows["predictor"].to_list(), align="left"),
        Column("rows", [format_count(count) for count in rows["rows"]]),
        _figures("MAPE", rows["mape_percent"]),
        _figures("balanced", rows["balanced_mape_percent"]),
        _figures("P90", rows["p90_percent"]),
        _figures("max", rows["max_percent"]),
        _figures("block", rows["mape_percent_of_blocks"]),
    ]
    return f"{split}: error in %\n{table(columns)}"


def _families(validation: Validation, split: str) -> str:
    errors = validation.errors.filter(pl.col("split") == split, pl.col("family") != ALL)
    wide = errors.pivot("predictor", index=["target", "family"], values="mape_percent", maintain_order=True)
    columns = [
        Column("GPU", once(wide["target"].to_list()), align="left"),
        Column("family", wide["family"].to_list(), align="left"),
        *(_figures(name, wide[name]) for name in wide.columns[2:] if name != LEARNED),
    ]
    return f"{split}: MAPE by family in %\n{table(columns)}"


def _layer(validation: Validation, split: str) -> str:
    """Before and after the learned residual, of what it changes; empty where no layer learned."""
    keys = ["target", "family"]
    errors = validation.errors.filter(pl.col("split") == split).select(*_KEYS, "family", "mape_percent")
    blocks = validation.subtotals
    if len(blocks):
        blocks = blocks.filter(pl.col("split") == split).with_columns(family=pl.lit(SUBTOTAL)).select(errors.columns)
        errors = pl.concat([errors, blocks])
    wide = errors.pivot("predictor", index=keys, values="mape_percent", maintain_order=True)
    if LEARNED not in wide.columns:
        return ""
    changed = wide.filter(pl.col(LEARNED) != pl.col(CALIBRATED)).sort("target", maintain_order=True)
    if not len(changed):
        return ""
    columns = [
        Column("GPU", once(changed["target"].to_list()), align="left"),
        Column("family", changed["family"].to_list(), align="left"),
        *(_figures(name, changed[name]) for name in (CALIBRATED, LEARNED)),
    ]
    return f"{split}: MAPE in % with a {LEARNED} layer\n{table(columns)}\n{wrapped(_LAYER)}"


def _octaves(validation: Validation, split: str) -> str:
    octaves = validation.octaves.filter(pl.col("split") == split, pl.col("family") == ALL)
    calibrated = octaves.filter(pl.col("predictor") == CALIBRATED).sort("octave", "target")
    wide = calibrated.pivot("target", index="octave", values="mape_percent", maintain_order=True)
    sizes = [f"{format_count(2**octave)}–{format_count(2 ** (octave + 1) - 1)}" for octave in wide["octave"]]
    columns = [Column("tokens", sizes), *(_figures(name, wide[name]) for name in wide.columns[1:])]
    title = f"{split}: MAPE of {CALIBRATED} by octave of tokens in %, each component counting the same"
    return f"{wrapped(title)}\n{table(columns)}"


def _coverage(validation: Validation) -> str:
    rows = validation.coverage
    columns = [
        Column("split", once(rows["split"].to_list()), align="left"),
        Column("GPU", rows["target"].to_list(), align="left"),
        Column("family", rows["family"].to_list(), align="left"),
        Column("rows", [format_count(count) for count in rows["rows"]]),
        _figures("held", rows["covered_percent"]),
        _figures("width", rows["width_percent"]),
    ]
    return f"90 % bands of {CALIBRATED}, in %\n{table(columns)}\n{wrapped(_BANDS)}"


def _figures(name: str, values: pl.Series) -> Column:
    return Column(name, [NO_FIGURE if value is None else three_digits(value) for value in values], align="point")


def once(names: Sequence[str]) -> list[str]:
    """Each name where it begins."""
    return ["" if index and names[index - 1] == name else name for index, name in enumerate(names)]
