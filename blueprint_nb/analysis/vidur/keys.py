"""Keys of a look-up, as they are asked for: checked, and as a file of their kind holds them."""

from __future__ import annotations

from collections.abc import Mapping
from operator import index
from typing import Any

import numpy as np

from ...errors import InvalidInputError, nearest, shown
from ...evidence.vidur.cells import BLANKS
from ...evidence.vidur.keys import FALSE_WORDS, TRUE_WORDS
from .rows import ProfileRows


def checked_key(key: Mapping[str, Any], rows: ProfileRows) -> dict[str, Any]:
    """The columns of `key` that select rows, as a file holds them.

    Raises `InvalidInputError` for a column that is neither in the file nor a key of its kind, and for a value that
    its column can't hold.
    """
    known = {column.name: column for column in rows.table.kind.keys}
    checked: dict[str, Any] = {}
    for name, value in key.items():
        if name in known:
            checked[name] = _checked_value(name, known[name].kind, value)
        elif name not in rows.table.columns:
            near = nearest(str(name), list(known))
            raise InvalidInputError(
                f"key.{name}",
                got=shown(value),
                rule=f"is no key of Vidur's {rows.table.kind.name} files",
                next_step=f"Did you mean {near[0]}?" if near else f"Its keys are {', '.join(known)}.",
            )
    return checked


def backend_name(value: object) -> str:
    """An attention backend without the name of its enum. Raises `InvalidInputError`."""
    text = getattr(value, "name", value)
    name = text.rpartition(".")[2].strip() if isinstance(text, str) else ""
    if not name:
        raise InvalidInputError("attention_backend", got=shown(value), rule="must be text, such as 'FLASH_ATTENTION'")
    return name


def _checked_value(name: str, kind: str, value: Any) -> Any:
    if kind == "backend":
        return backend_name(value)
    if kind == "flag" and isinstance(value, str) and (word := value.strip(BLANKS).lower()) in TRUE_WORDS + FALSE_WORDS:
        return int(word in TRUE_WORDS)
    try:
        whole = int(value) if isinstance(value, (float, np.floating, np.bool_)) else index(value)
        if whole != value or not 0 <= whole < 2**63:
            raise ValueError
    except Exception:  # someone else's __index__ may raise anything
        raise InvalidInputError(f"key.{name}", got=shown(value), rule="must be an integer from 0") from None
    return whole
