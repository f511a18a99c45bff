"""The datatypes an inference can run in, and how many bytes an element of each takes."""

from __future__ import annotations

from typing import Annotated, Final

from pydantic import BeforeValidator

from ..errors import unknown_name

BYTES_PER_ELEMENT: Final[dict[str, int]] = {"float32": 4, "float16": 2, "bfloat16": 2, "float8": 1}
DATATYPES: Final = tuple(BYTES_PER_ELEMENT)

_SHORT_NAMES: Final = {"fp8": "float8", "fp16": "float16", "half": "float16", "bf16": "bfloat16", "fp32": "float32"}
"""What else datatypes are called: to suggest their names here, never to take in their place."""


def known_datatype(value: object) -> str:
    """`value`, if it names a datatype. Raises `UnknownNameError`."""
    if isinstance(value, str) and value in DATATYPES:
        return value
    meant = _SHORT_NAMES.get(value.lower(), "") if isinstance(value, str) else ""
    raise unknown_name("datatype", value, DATATYPES, meant=meant)


Datatype = Annotated[str, BeforeValidator(known_datatype)]
"""The name of a datatype."""


def element_bytes(datatype: str) -> int:
    """Bytes of one element. Raises `UnknownNameError`."""
    return BYTES_PER_ELEMENT[known_datatype(datatype)]
