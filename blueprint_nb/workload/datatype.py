"""The datatypes an inference can run in, and how many bytes an element of each takes."""

from __future__ import annotations

from typing import Annotated, Final

from pydantic import BeforeValidator

from ..errors import one_of

BYTES_PER_ELEMENT: Final[dict[str, int]] = {"float32": 4, "float16": 2, "bfloat16": 2, "float8": 1}
DATATYPES: Final = tuple(BYTES_PER_ELEMENT)


def known_datatype(value: object) -> str:
    """`value`, if it names a datatype. Raises `UnknownNameError`."""
    return one_of("datatype", value, BYTES_PER_ELEMENT)


Datatype = Annotated[str, BeforeValidator(known_datatype)]
"""The name of a datatype."""


def element_bytes(datatype: str) -> int:
    """Bytes of one element. Raises `UnknownNameError`."""
    return BYTES_PER_ELEMENT[known_datatype(datatype)]
