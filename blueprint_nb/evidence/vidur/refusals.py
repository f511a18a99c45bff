"""How a file is refused: the place says file, line and column, as far as the fault has one."""

from __future__ import annotations

from ...errors import ProfileError

__all__ = ["refusal"]


def refusal(
    file: str,
    rule: str,
    *,
    line: int | None = None,
    column: str = "",
    got: str = "",
    next_step: str = "Mend or restore the file.",
) -> ProfileError:
    """The error for `file`, or for its `line` and `column`. `got` is shown as it is."""
    place = file
    if line is not None:
        place += f", line {line}"
    if column:
        place += f", column {column}"
    return ProfileError(place, rule=rule, got=got, next_step=next_step)
