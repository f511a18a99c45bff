"""Time cells: what is read, what counts as not measured, and which faults are kept for the row."""

from __future__ import annotations

import math

import numpy as np
import pytest

from blueprint_nb.evidence.vidur import Fault

from .conftest import Profile, collective

TOO_SHORT = "must be at least 0.0005 ms, half a tick of the profiler's timer (wrong unit?)"
TIME = "time_stats.all_reduce.median"


def column(name: str) -> str:
    return f"time_stats.{name}.median"


@pytest.mark.parametrize(
    ("cell", "milliseconds"),
    [("0.05", 0.05), (" 0.05 ", 0.05), ("5e-2", 0.05), ("0.0005", 0.0005), ("7", 7.0), ("100000", 1e5), (".5", 0.5)],
)
def test_times_are_read_however_they_are_written(profile: Profile, cell: str, milliseconds: float) -> None:
    table = profile.read(collective(time=cell))
    assert table.milliseconds["all_reduce"].tolist() == [milliseconds]
    assert table.faults["all_reduce"] == {}


@pytest.mark.parametrize("cell", ["", " ", "\t "])
def test_an_empty_cell_was_not_measured(profile: Profile, cell: str) -> None:
    table = profile.read(collective(time=cell))
    assert math.isnan(table.milliseconds["all_reduce"][0])
    assert table.faults["all_reduce"] == {}


@pytest.mark.parametrize(
    ("cell", "rule"),
    [
        *(
            (cell, "must be a number")
            for cell in ("nan", "NaN", "-nan", "null", "None", "NA", "fast", "1_0", "0x1", "5 ms")
        ),
        *((cell, "must be finite") for cell in ("inf", "-inf", "Infinity", "1e999")),
        *((cell, "must be positive") for cell in ("0", "0.0", "-0.0", "-0.05", "-1e9")),
        *((cell, TOO_SHORT) for cell in ("0.0004999", "1e-9", "5e-324")),
        *((cell, "must be at most 100,000 ms (wrong unit?)") for cell in ("100000.1", "1e300")),
    ],
)
def test_a_cell_that_can_be_no_time_is_a_fault_of_its_row(profile: Profile, cell: str, rule: str) -> None:
    good = collective()
    table = profile.read(good + collective(time=cell).splitlines()[1])
    assert table.milliseconds["all_reduce"][0] == 0.05
    assert math.isnan(table.milliseconds["all_reduce"][1])
    assert table.faults["all_reduce"] == {1: Fault(3, TIME, cell, rule)}


@pytest.mark.parametrize(
    "operator", ["emb", "input_layernorm", "post_attention_layernorm", "attn_rope", "mlp_act", "add"]
)
def test_an_element_wise_operator_takes_no_second(profile: Profile, operator: str) -> None:
    table = profile.read(f"num_tokens,{column(operator)}\n1,1000\n1,1000.5\n", "compute")
    assert table.faults[operator] == {
        1: Fault(3, column(operator), "1000.5", "must be at most 1,000 ms (wrong unit?)")
    }  # fmt: skip


def test_a_matrix_product_may_take_seconds(profile: Profile) -> None:
    table = profile.read(f"num_tokens,{column('mlp_up_proj')}\n1,99999\n", "compute")
    assert table.milliseconds["mlp_up_proj"].tolist() == [99999]


def test_a_long_cell_is_cut_in_its_fault(profile: Profile) -> None:
    table = profile.read(collective(time="x" * 10**6))
    assert table.faults["all_reduce"][0].got == "x" * 39 + "…"


def test_a_cell_in_need_of_quotes_is_shown_without_them(profile: Profile) -> None:
    table = profile.read(collective(time='"0,05"'))
    assert table.faults["all_reduce"][0].got == "0,05"


def test_other_statistics_are_left_alone(profile: Profile) -> None:
    text = "size,time_stats.all_reduce.mean,time_stats.all_reduce.std,all_reduce\n1,bad,-1,\n"
    assert profile.read(text).milliseconds == {}


def test_faults_are_a_mapping_of_rows(profile: Profile) -> None:
    rows = "".join(f"{size},2,1,{'bad' if size % 2 else '1'}\n" for size in range(1, 9))
    faults = profile.read(collective().splitlines()[0] + "\n" + rows).faults["all_reduce"]
    assert list(faults) == [0, 2, 4, 6]
    assert len(faults) == 4
    assert [fault.line for fault in faults.values()] == [2, 4, 6, 8]
    assert 1 not in faults
    assert faults.get(1) is None
    assert repr(faults) == "CellFaults of 4 rows"


ATTENTION = ["is_prefill", *map(column, ("attn_prefill", "attn_decode"))]


def attention(header: list[str], *rows: str) -> str:
    return "\n".join([",".join(header), *rows])


@pytest.mark.parametrize("other", ["", "0.0", "0.7", "nan", "bad", "1e99"])
def test_a_phase_has_no_time_on_rows_of_the_other(profile: Profile, other: str) -> None:
    table = profile.read(attention(ATTENTION, f"True,0.5,{other}", f"False,{other},0.25"), "attention")
    np.testing.assert_array_equal(table.milliseconds["attn_prefill"], [0.5, np.nan])
    np.testing.assert_array_equal(table.milliseconds["attn_decode"], [np.nan, 0.25])
    assert table.faults == {"attn_prefill": {}, "attn_decode": {}}


def test_a_fault_of_a_phase_counts_on_its_own_rows(profile: Profile) -> None:
    table = profile.read(attention(ATTENTION, "True,0.0,", "False,0.0,0.25"), "attention")
    assert table.faults["attn_prefill"] == {0: Fault(2, column("attn_prefill"), "0.0", "must be positive")}


def test_a_file_that_tells_no_phases_has_no_times_of_one(profile: Profile) -> None:
    names = ["batch_size", *map(column, ("attn_prefill", "attn_kv_cache_save_decode", "attn_kv_cache_save"))]
    table = profile.read(attention(names, "1,0.5,0.6,0.7"), "attention")
    assert {name: values.tolist() for name, values in table.milliseconds.items()} == {"attn_kv_cache_save": [0.7]}
    table = profile.read(attention(names[:-1], "1,0.5,0.6"), "attention")
    assert table.milliseconds == {}


OLD, PREFILL, DECODE = map(
    column, ("attn_kv_cache_save", "attn_kv_cache_save_prefill", "attn_kv_cache_save_decode")
)  # fmt: skip


def test_newer_names_fill_the_operator_where_their_phase_holds(profile: Profile) -> None:
    table = profile.read(
        attention(["is_prefill", PREFILL, DECODE], "1,0.1,0.2", "0,0.3,0.4", "1,,0.5", "0,0.6,"), "attention"
    )
    assert list(table.milliseconds) == ["attn_kv_cache_save"]
    np.testing.assert_array_equal(table.milliseconds["attn_kv_cache_save"], [0.1, 0.4, np.nan, np.nan])
    assert table.faults["attn_kv_cache_save"] == {}


def test_a_newer_name_wins_over_the_old_one_where_it_holds_anything(profile: Profile) -> None:
    rows = ["1,0.9,0.1,0.2", "0,0.9,0.3,0.4", "1,0.9,,0.5", "0,0.9,bad,bad", "1,bad,,", "0,bad,,0.7"]
    table = profile.read(attention(["is_prefill", OLD, PREFILL, DECODE], *rows), "attention")
    np.testing.assert_array_equal(
        table.milliseconds["attn_kv_cache_save"], [0.1, 0.4, 0.9, np.nan, np.nan, 0.7]
    )  # fmt: skip
    assert table.faults["attn_kv_cache_save"] == {
        3: Fault(5, DECODE, "bad", "must be a number"),
        4: Fault(6, OLD, "bad", "must be a number"),
    }


def test_saving_the_cache_is_element_wise_under_each_name(profile: Profile) -> None:
    table = profile.read(attention(["is_prefill", OLD, PREFILL], "1,1,2000", "0,2000,"), "attention")
    assert [fault.rule for fault in table.faults["attn_kv_cache_save"].values()] == [
        "must be at most 1,000 ms (wrong unit?)"
    ] * 2


def test_a_column_of_faults_is_read_all_the_same(profile: Profile) -> None:
    count = 100_000
    table = profile.read("size,time_stats.all_reduce.median\n" + "1,nan\n" * count)
    assert len(table.faults["all_reduce"]) == count
    assert table.faults["all_reduce"][count - 1].line == count + 1
