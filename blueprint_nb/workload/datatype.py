"""The datatypes an inference can run in, and how many bytes an element of each takes."""

from __future__ import annotations

from typing import Annotated, Final, Literal, cast, get_args

from pydantic import BeforeValidator

from ..errors import unknown_name

DatatypeName = Literal["float32", "float16", "bfloat16", "float8"]

BYTES_PER_ELEMENT: Final[dict[str, int]] = {"float32": 4, "float16": 2, "bfloat16": 2, "float8": 1}
DATATYPES: Final[tuple[DatatypeName, ...]] = get_args(DatatypeName)


def known_datatype(value: object) -> DatatypeName:
    """`value`, if it names a datatype. Raises `UnknownNameError`."""
    if not isinstance(value, str) or value not in BYTES_PER_ELEMENT:
        raise unknown_name("datatype", value, BYTES_PER_ELEMENT)
    return cast(DatatypeName, value)


Datatype = Annotated[str, BeforeValidator(known_datatype)]
"""The name of a datatype."""


def element_bytes(datatype: str) -> int:
    """Bytes of one element. Raises `UnknownNameError`."""
    known_datatype(datatype)
    return BYTES_PER_ELEMENT[datatype]
