"""Options that commands share, and how numbers and lists are read."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

import click

from ..errors import InvalidInputError, shown

Function = TypeVar("Function", bound=Callable[..., Any])

DEFAULT_MODEL = "llama-3.1-8b"
DEFAULT_SYSTEM = "h100_80g_sxm"
MOST_VALUES = 10_000_000


class WholeNumber(click.ParamType[int]):
    """An integer; the engine checks its range."""

    name = "number"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> int:
        """`value` as an integer. Raises `InvalidInputError` with the option."""
        return _integer(str(value), _option(param), "Write it without separators or decimals, such as 4096.")


class FilledText(click.ParamType[str]):
    """Text that says something."""

    name = "text"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> str:
        """`value` as it is. Raises `InvalidInputError` with the option where it is empty."""
        if not str(value).strip():
            next_step = "Leave the option out, or give it a value."
            raise InvalidInputError(_option(param), got=shown(value), rule="must not be empty", next_step=next_step)
        return str(value)


class NumberList(click.ParamType[list[int]]):
    """Integers and ranges, separated by commas: 1,2,4 or 1024:8192:1024 (start:stop:step, stop included)."""

    name = "list"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> list[int]:
        """`value` as a list. Raises `InvalidInputError` with the option."""
        return [number for item in str(value).split(",") for number in _numbers(item.strip(), _option(param))]


def _numbers(item: str, option: str) -> list[int]:
    next_step = "Write a list such as 1,2,4 or a range such as 1024:8192:1024."
    bounds = [_integer(part, option, next_step) for part in item.split(":")]
    if len(bounds) == 1:
        return bounds
    start, stop, step = (*bounds, 1)[:3]
    values = range(start, stop + 1, step) if step > 0 else range(0)
    if len(bounds) > 3 or not values:
        raise InvalidInputError(
            option, got=shown(item), rule="takes ranges as start:stop:step that hold a number", next_step=next_step
        )
    if len(values) > MOST_VALUES:
        raise InvalidInputError(
            option,
            got=f"{len(values):,} in {shown(item)}",
            rule=f"takes at most {MOST_VALUES:,} numbers",
            next_step="Use a larger step.",
        )
    return list(values)


def _integer(text: str, option: str, next_step: str) -> int:
    # Left alone, int takes 1_0 and the digits of every script.
    is_plain = text.isascii() and "_" not in text
    try:
        return int(text if is_plain else "")
    except ValueError:
        raise InvalidInputError(option, got=shown(text), rule="must be an integer", next_step=next_step) from None


def _option(param: click.Parameter | None) -> str:
    return max(param.opts, key=len) if param else "value"


def model_and_system(function: Function, model: str = DEFAULT_MODEL, system: str = DEFAULT_SYSTEM) -> Function:
    """What is asked about, and on what."""
    return with_options(
        function,
        click.option("--model", default=model, metavar="NAME", help="A model's name, or its TOML file."),
        click.option("--system", default=system, metavar="NAME", help="A system's name, or its TOML file."),
    )


def pricing(function: Function) -> Function:
    """How numbers are held, and which figures price them."""
    return with_options(
        function,
        click.option(
            "--datatype",
            default="float16",
            metavar="NAME",
            help="float32, float16, bfloat16 or float8, for all tensors.",
        ),
        click.option(
            "--mode",
            metavar="NAME",
            help="peak-only: the system's peaks. system-evidence: peaks times the system's efficiency curves. "
            "calibrated: forms fitted to measured kernels, with their error.  "
            "[default: calibrated, as where --calibration is given; system-evidence for reference presets and where "
            "nothing was fitted]",
        ),
        click.option(
            "--calibration",
            metavar="NAME",
            help="Parameters of the mode calibrated: a set that `show systems` lists.  [default: the first of them]",
        ),
        click.option(
            "--attention",
            metavar="NAME",
            help="unfused, flash or paged.  [default: flash, unfused for dense-mha models]",
        ),
        networks,
    )


def networks(function: Function) -> Function:
    """Which tiers of the network carry what."""
    return with_options(
        function,
        click.option("--tp-network", default=0, type=WholeNumber(), help="Network tier of tensor parallelism."),
        click.option("--pp-network", default=0, type=WholeNumber(), help="Network tier between pipeline stages."),
    )


def with_options(function: Function, *options: Callable[[Function], Function]) -> Function:
    """`function` with the options in this order."""
    for option in reversed(options):
        function = option(function)
    return function
