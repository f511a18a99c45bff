"""User-asserted figures: taken at their word, labelled so, and refused with file, line and column where they are off."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from blueprint_nb.cost import AnalyticalProvider, AssertedProvider, ComponentCost, CostBlock, CostResolver
from blueprint_nb.errors import BlueprintError

from .sets import A100, NETWORK, grid, step

PEAK = AnalyticalProvider("peak-only")
SECONDS = "must be a number of seconds, 0 or from 1e-15 to 1,000,000,000."
HEADER = "family,m,n,k,seconds\n"


def of(block: CostBlock, component: str) -> ComponentCost:
    return next(cost for activity, cost in block.priced if activity.component == component)


def priced(asserted: Any, activity: Any = None) -> CostBlock:
    return CostResolver([AssertedProvider(asserted), PEAK]).resolve(activity or step(), A100, NETWORK)


def written(folder: Path, text: str) -> Path:
    path = folder / "timings.csv"
    path.write_text(text, encoding="utf-8")
    return path


def test_a_component_s_seconds_hold_at_every_point() -> None:
    cost = of(priced({"attention_core": 45e-6}, grid([1, 2], [10, 20])), "attention_core")
    assert cost.seconds.tolist() == [[45e-6] * 2] * 2
    origin = cost.origins[0]
    assert (origin.provider, origin.method) == ("user-asserted:attention_core", "user-asserted")
    assert (origin.match, origin.records) == ("by component", ())
    assert cost.band is not None
    assert cost.band.low_seconds.tolist() == cost.band.high_seconds.tolist() == cost.seconds.tolist()


def test_a_primitive_stands_for_each_component_that_is_one_and_a_name_for_itself() -> None:
    block = priced({"residual_add": 1e-6, "mlp_residual": 2e-6})
    assert float(of(block, "attention_residual").seconds) == 1e-6
    assert float(of(block, "mlp_residual").seconds) == 2e-6


def test_all_else_stays_as_it_was() -> None:
    block, plain = priced({"attention_core": 45e-6}), PEAK.cost(step(), A100, NETWORK)
    for activity, cost in block.priced:
        if activity.component != "attention_core":
            assert cost == of(plain, activity.component)


def test_a_file_gives_seconds_by_shape(tmp_path: Path) -> None:
    path = written(tmp_path, "\ufeff" + HEADER + "gemm,2, 192,64,3e-5\n\ngemm,4,192,64,5e-5\n")
    cost = of(priced(path, grid([1, 2, 4], [10])), "qkv_projection")
    assert cost.seconds.reshape(-1)[1:].tolist() == [3e-5, 5e-5]
    index = np.broadcast_to(cost.origin_index, cost.seconds.shape).reshape(-1)
    assert [cost.origins[one].method for one in index.tolist()] == ["peak-only", "user-asserted", "user-asserted"]
    assert cost.origins[index[2]].records == ("timings.csv:4",)
    assert cost.origins[index[1]].provider == "user-asserted:timings.csv"


def test_a_datatype_holds_for_itself_alone(tmp_path: Path) -> None:
    rows = "gemm,2,192,64,3e-5,float16\ngemm,2,384,64,4e-5,bfloat16\n"
    block = priced(written(tmp_path, "family,m,n,k,seconds,datatype\n" + rows))
    assert float(of(block, "qkv_projection").seconds) == 3e-5
    assert of(block, "mlp_up").origins[0].method == "peak-only"


def test_families_share_a_file_and_leave_each_other_s_columns_empty(tmp_path: Path) -> None:
    text = "family,m,n,k,rows,width,seconds\ngemm,2,192,64,,,3e-5\nrope,,,,2,160,1e-6\n"
    block = priced(written(tmp_path, text))
    assert float(of(block, "qkv_projection").seconds) == 3e-5
    assert float(of(block, "rope").seconds) == 1e-6


def test_what_the_file_says_is_its_revision_not_its_name(tmp_path: Path) -> None:
    (tmp_path / "sub").mkdir()
    one = AssertedProvider(written(tmp_path, HEADER + "gemm,2,192,64,3e-5\n"))
    other = AssertedProvider(written(tmp_path / "sub", HEADER + "\ngemm,2,192,64,0.00003\n"))
    third = AssertedProvider(written(tmp_path, HEADER + "gemm,2,192,64,3.1e-5\n"))
    assert one.revision == other.revision != third.revision


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "timings.csv must have a header. Got an empty file."),
        (HEADER, "timings.csv must have a line of figures. Got a header alone."),
        ("family,m,n,k\n", "timings.csv, line 1 must have the column seconds. Got family, m, n, k."),
        (
            "family,m,n,k,second\n",
            "timings.csv, line 1 must name known columns. Got 'second'. Did you mean seconds?",
        ),
        ("family,m,m,seconds\n", "timings.csv, line 1 must name each column once. Got 'm'."),
        (HEADER + "gemm,2,192,64\n", "timings.csv, line 2 must have 5 cells, as the header does. Got 4."),
        (HEADER + "gemm,2,192,,3e-5\n", "timings.csv, line 2, column k is part of the shape of gemm. Got nothing."),
        (
            HEADER + "gemm,2,192,6.5,3e-5\n",
            "timings.csv, line 2, column k must be an integer from 1 to 1,000,000,000,000. Got '6.5'.",
        ),
        (
            HEADER + "gemm,0,192,64,3e-5\n",
            "timings.csv, line 2, column m must be an integer from 1 to 1,000,000,000,000. Got '0'.",
        ),
        (
            "family,m,n,k,width,seconds\ngemm,2,192,64,5,3e-5\n",
            "timings.csv, line 2, column width must be empty for gemm, whose shape is m, n, k. Got '5'.",
        ),
        *(
            (
                HEADER + f"gemm,2,192,64,{got}\n",
                f"timings.csv, line 2, column seconds {SECONDS} Got '{got}'.",
            )
            for got in ("", "nan", "inf", "-1e-6", "45us", "1_0", "1e-16", "1.1e9", "٣", "１e-5")
        ),
        (
            HEADER + "gemm,2,192,64,3e-5\ngemm,2,192,64,4e-5\n",
            "timings.csv, line 3 says what line 2 says already. Got gemm 2 × 192 × 64. Leave one of them out.",
        ),
        (
            "family,m,n,k,seconds,datatype\ngemm,2,192,64,3e-5,\ngemm,2,192,64,4e-5,float16\n",
            "timings.csv, line 3 says what line 2 says already. Got gemm 2 × 192 × 64 float16. Leave one of them out.",
        ),
        (
            "family,m,n,k,seconds,datatype\ngemm,2,192,64,3e-5,fp16\n",
            "timings.csv, line 2, column datatype must be bfloat16, float16, float32 or float8. Got 'fp16'. "
            "Did you mean float16?",
        ),
        (
            HEADER + "gem,2,192,64,3e-5\n",
            "timings.csv, line 2, column family must be one of gemm, rms_norm, layer_norm, gated_activation, "
            "activation, rope, add, embedding, kv_save, attention_decode, attention_prefill, all_reduce, all_gather, "
            "point_to_point, host. Got 'gem'. Did you mean gemm?",
        ),
    ],
)
def test_a_file_is_refused_by_line_and_column(tmp_path: Path, text: str, message: str) -> None:
    with pytest.raises(BlueprintError) as caught:
        AssertedProvider(written(tmp_path, text))
    assert str(caught.value) == message


def test_a_file_that_is_not_there_is_refused(tmp_path: Path) -> None:
    with pytest.raises(BlueprintError, match=r"none\.csv can't be read: no such file or directory\. Check the path"):
        AssertedProvider(tmp_path / "none.csv")
    (tmp_path / "binary.csv").write_bytes(b"\xff\xfe\x00")
    with pytest.raises(BlueprintError, match=r"binary\.csv can't be read"):
        AssertedProvider(tmp_path / "binary.csv")


@pytest.mark.parametrize(
    ("asserted", "message"),
    [
        ({}, "asserted must name at least one component. Got {}. Leave it out."),
        (
            {"atention_core": 1e-6},
            "asserted must be one of 33 known names. Got 'atention_core'. "
            "Did you mean attention_core, attention_rope or attention_residual?",
        ),
        *(
            ({"rope": value}, f"asserted['rope'] {SECONDS} Got {got}.")
            for value, got in (
                (-1, "-1"),
                (5e-324, "5e-324"),
                (1e300, "1e+300"),
                ("1", "'1'"),
                (True, "True"),
                (float("nan"), "nan"),
                (None, "None"),
            )
        ),
        (
            7,
            "asserted must be the path of a CSV file, or component to seconds such as {'attention_core': 45e-6}. Got 7.",
        ),
        (
            "",
            "asserted must be the path of a CSV file, or component to seconds such as {'attention_core': 45e-6}. Got ''.",
        ),
    ],
)
def test_components_are_known_and_seconds_are_numbers(asserted: Any, message: str) -> None:
    with pytest.raises(BlueprintError) as caught:
        AssertedProvider(asserted)
    assert str(caught.value) == message


def test_names_are_asked_for_by_the_components_that_take_their_seconds() -> None:
    provider = AssertedProvider({"residual_add": 1e-6, "mlp_residual": 1e-6, "mlp_all_reduce": 1e-6})
    asked = provider.asked(step())
    # One device talks to nobody.
    assert asked.tolist() == [True, True, False]
    assert provider.labels(~asked) == ["mlp_all_reduce"]


def test_lines_are_asked_for_by_the_points_that_have_their_shape(tmp_path: Path) -> None:
    provider = AssertedProvider(written(tmp_path, HEADER + "gemm,3,192,64,3e-5\ngemm,2,192,64,3e-5\ngemm,4,192,64,0\n"))
    assert provider.asked(grid([1, 2, 4], [10])).tolist() == [False, True, True]
    assert provider.asked(grid([1, 5], [10])).tolist() == [False, False, False]
    assert provider.labels(provider.asked(step())) == ["timings.csv:3 (gemm 2 × 192 × 64)"]
