"""What holds of any profile: bytes never surprise, and order, extra columns and spelling change no number."""

from __future__ import annotations

import random
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from blueprint_nb.errors import BlueprintError
from blueprint_nb.evidence.vidur import KINDS, ProfileTable, read_profile

from .conftest import Profile, csv_of

PIECES = [
    b"size", b"num_tokens", b"is_prefill", b"time_stats.all_reduce.median", b"time_stats.attn_prefill.median",
    b"attention_backend", b",", b",", b",", b"\n", b"\n", b"\r\n", b"\r", b'"', b'""', b" ", b"\t", b";", b"0", b"1", b"1.5",
    b"-1", b"1e3", b"1e999", b"nan", b"inf", b"True", b"\xef\xbb\xbf", b"\x00", b"\xff", "µ".encode(), b"x^", b"\x1f\x8b",
    b"\x28\xb5\x2f\xfd", b"\x85", b"\xe2\x80\xa8", b"\x1c", b"#", b"'", b"\\",
]  # fmt: skip

FILES = st.one_of(
    st.binary(max_size=200),
    st.lists(st.sampled_from(PIECES), max_size=40).map(b"".join),
    st.lists(st.sampled_from(PIECES), max_size=40).map(lambda rest: b"size,is_prefill\n" + b"".join(rest)),
    st.lists(st.sampled_from(PIECES), max_size=40).map(lambda rest: b"size\n" + b"".join(rest)),
)


@given(content=FILES, kind=st.sampled_from(sorted(KINDS)))
@example(b'size,x\n1,"a\n', "all_reduce")
@example(b'size\n""\n', "all_reduce")
@example(b"size\nx\x01", "all_reduce")
@example(b'"size"\n"1"\n"', "all_reduce")
def test_any_bytes_give_a_table_or_an_error_of_ours(shared_profile: Profile, content: bytes, kind: str) -> None:
    try:
        table = shared_profile.read(content, kind)
    except BlueprintError as error:
        said = str(error)
    else:
        check_invariants(table)
        said = table.file
    assert said.startswith(str(shared_profile.path))


def check_invariants(table: ProfileTable) -> None:
    """What every table promises, whatever the file."""
    assert table.keys
    assert set(table.milliseconds) == set(table.faults)
    assert {len(values) for values in [*table.keys.values(), *table.milliseconds.values()]} <= {len(table)}
    assert (np.diff(table.lines) > 0).all()
    for operator, values in table.milliseconds.items():
        measured = values[~np.isnan(values)]
        assert (measured > 0).all()
        assert np.isfinite(measured).all()
        for row, fault in table.faults[operator].items():
            assert np.isnan(values[row])
            assert fault.line == table.lines[row]
            assert fault.column in table.columns


COUNTS = st.integers(1, 10**12)
MILLISECONDS = st.floats(0.0005, 1000)
CELLS = {
    "count": COUNTS.map(str) | st.integers(1, 10**9).map(lambda value: f"{value}.0"),
    "index": st.integers(0, 10**12).map(str),
    "flag": st.sampled_from(["True", "False", "true", "0", "1"]),
    "backend": st.sampled_from(["AttentionBackend.FLASH_ATTENTION", "FLASHINFER"]),
}
TIMES = st.one_of(MILLISECONDS.map(repr), st.sampled_from(["", "nan", "0.0", "-1", "bad", "1e9"]))


@st.composite
def profiles(draw: st.DrawFn) -> tuple[str, dict[str, list[str]]]:
    """A kind and the cells of a file of it, column by column."""
    kind = KINDS[draw(st.sampled_from(sorted(KINDS)))]
    count = draw(st.integers(1, 6))
    keys = draw(st.lists(st.sampled_from(kind.keys), min_size=1, unique=True))
    operators = draw(st.lists(st.sampled_from(kind.operators), unique=True))
    columns = {key.name: draw(st.lists(CELLS[key.kind], min_size=count, max_size=count)) for key in keys}
    for operator in operators:
        name = f"time_stats.{operator}.median"
        columns[name] = draw(st.lists(TIMES, min_size=count, max_size=count))
    return kind.name, columns


def contents(table: ProfileTable, order: Any = slice(None)) -> dict[str, list[Any]]:
    """Everything that is read from rows, in the `order` given; what was not measured as None."""
    found = {name: values[order].tolist() for name, values in table.keys.items()}
    for operator, values in table.milliseconds.items():
        rows = np.arange(len(table))[order].tolist()
        faults = [table.faults[operator].get(row) for row in rows]
        found[f"{operator} (ms)"] = [None if np.isnan(value) else value for value in values[order].tolist()]
        found[f"{operator} (faults)"] = [fault and (fault.column, fault.got, fault.rule) for fault in faults]
    return found


@given(made=profiles())
def test_what_was_written_is_read(shared_profile: Profile, made: tuple[str, dict[str, list[str]]]) -> None:
    kind, columns = made
    table = shared_profile.read(csv_of(columns), kind)
    check_invariants(table)
    assert table.columns == tuple(columns)
    for key in table.kind.keys:
        if key.kind in ("count", "index") and key.name in columns:
            assert table.keys[key.name].tolist() == [int(float(cell)) for cell in columns[key.name]]
    for operator, values in table.milliseconds.items():
        cells = columns[f"time_stats.{operator}.median"]
        for row, value in enumerate(values.tolist()):
            assert np.isnan(value) or value == float(cells[row])


@given(made=profiles(), seed=st.integers(0, 99))
def test_the_order_of_columns_changes_nothing(
    shared_profile: Profile, made: tuple[str, dict[str, list[str]]], seed: int
) -> None:
    kind, columns = made
    names = random.Random(seed).sample(list(columns), len(columns))
    before = contents(shared_profile.read(csv_of(columns), kind))
    assert contents(shared_profile.read(csv_of({name: columns[name] for name in names}), kind)) == before


@given(made=profiles(), seed=st.integers(0, 99))
def test_the_order_of_rows_is_the_order_of_the_arrays(
    shared_profile: Profile, made: tuple[str, dict[str, list[str]]], seed: int
) -> None:
    kind, columns = made
    count = len(next(iter(columns.values())))
    order = random.Random(seed).sample(range(count), count)
    before = shared_profile.read(csv_of(columns), kind)
    after = shared_profile.read(csv_of({name: [cells[row] for row in order] for name, cells in columns.items()}), kind)
    assert contents(after) == contents(before, order)


@given(
    made=profiles(), extra=st.lists(st.sampled_from(["", "x", "-1", "nan", '"a,b"', '"\n"']), min_size=6, max_size=6)
)
def test_extra_columns_change_nothing(
    shared_profile: Profile, made: tuple[str, dict[str, list[str]]], extra: list[str]
) -> None:
    kind, columns = made
    count = len(next(iter(columns.values())))
    before = contents(shared_profile.read(csv_of(columns), kind))
    wider = {"": extra[:count]} | columns | {"time_stats.emb.mean": extra[:count]}
    assert contents(shared_profile.read(csv_of(wider), kind)) == before


SPELLINGS: dict[str, Callable[[str], str]] = {
    "carriage returns": lambda text: text.replace("\n", "\r\n"),
    "blank lines": lambda text: text.replace("\n", "\n\n \n"),
    "quotes": lambda text: "\n".join(",".join(f'"{cell}"' for cell in line.split(",")) for line in text.splitlines()),
    "quotes in need": lambda text: "\n".join(f'{line},"a,\n""b"""' for line in text.splitlines()),
    "spaces": lambda text: text.replace(",", " ,\t"),
}


@given(made=profiles(), spelling=st.sampled_from(sorted(SPELLINGS)))
def test_spelling_changes_nothing(
    shared_profile: Profile, made: tuple[str, dict[str, list[str]]], spelling: str
) -> None:
    kind, columns = made
    text = csv_of(columns)
    before = contents(shared_profile.read(text, kind))
    after = contents(shared_profile.read(SPELLINGS[spelling](text), kind))
    assert {name: stripped(values) for name, values in after.items()} == before


def stripped(values: list[Any]) -> list[Any]:
    return [(value[0], value[1].strip(), value[2]) if isinstance(value, tuple) else value for value in values]


@pytest.mark.parametrize("seed", range(3))
def test_a_table_is_read_alike_in_one_chunk_and_in_many(
    shared_profile: Profile, monkeypatch: pytest.MonkeyPatch, seed: int
) -> None:
    source, blanks = random.Random(seed), ["", " \n", "\n"]
    text = "size,time_stats.all_reduce.median\n" + "".join(
        f"{source.randint(1, 10**9)},{source.random() + 1}\n{source.choice(blanks)}" for _ in range(500)
    )
    path = shared_profile.write(text.rstrip())
    whole = read_profile(path, "all_reduce")
    monkeypatch.setattr("blueprint_nb.evidence.vidur.plain._CHUNK_BYTES", 7)
    parts = read_profile(path, "all_reduce")
    assert contents(parts) == contents(whole)
    assert parts.lines.tolist() == whole.lines.tolist()
