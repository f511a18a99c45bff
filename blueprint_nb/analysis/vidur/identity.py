"""What a baseline's files are of: model, machines, attention backend and revision."""

from __future__ import annotations

from typing import Annotated

from pydantic import AfterValidator

from ..._schema import Count, Record, Text
from ...errors import InvalidInputError


def _name(value: object) -> object:
    if value == "":
        raise InvalidInputError("", got="''", rule="must not be empty")
    return value


Name = Annotated[Text, AfterValidator(_name)]
"""Text of at least one sign."""


class BaselineIdentity(Record):
    """What a baseline's files are of. Raises `InvalidInputError`."""

    model_name: Name
    hardware_name: Name
    network_name: Name
    """Of the machine whose collectives were timed."""
    attention_backend: Text | None
    block_size: Count | None
    """Tokens in a block of the KV cache."""
    source_revision: Text
    """Of the project that the files come from."""

    def machine_of(self, kind: str) -> str:
        """The name of the machine that a kind of file was timed on."""
        return self.hardware_name if kind in ("compute", "attention") else self.network_name
