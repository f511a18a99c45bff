"""A parameter file that its forms can't take is refused by name, before anything is priced."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest

from blueprint_nb import catalog
from blueprint_nb.cost import CalibrationSet
from blueprint_nb.cost.calibration import OctaveResiduals
from blueprint_nb.cost.set_check import check_set
from blueprint_nb.errors import InvalidInputError, UnknownNameError

from .sets import fit_of, residuals, set_of


def with_family(name: str, **changes: object) -> CalibrationSet:
    return set_of(families={**set_of().families, name: fit_of(name, **changes)})


def test_a_set_at_the_starts_of_its_forms_is_taken() -> None:
    check_set(set_of())


def test_a_value_too_few_is_refused() -> None:
    values = {name: value for name, value in fit_of("add").values.items() if name != "l2_gain"}
    with pytest.raises(InvalidInputError, match=r"^families\.add\.values must have bandwidth_fraction, .* Got "):
        check_set(with_family("add", values=values))


@pytest.mark.parametrize(("value", "got"), [(-1.0, "-1"), (0.0, "0"), (1e308, "1e+308")])
def test_a_value_out_of_bounds_is_refused(value: float, got: str) -> None:
    with pytest.raises(InvalidInputError) as caught:
        check_set(with_family("rope", values={**fit_of("rope").values, "floor_seconds": value}))
    assert str(caught.value) == f"families.rope.values.floor_seconds must lie from 2e-07 to 8e-06. Got {got}."


def test_a_range_of_another_dimension_or_the_wrong_way_round_is_refused() -> None:
    with pytest.raises(InvalidInputError, match=r"^families\.rope\.ranges must have rows, width, and no others\."):
        check_set(with_family("rope", ranges={"rows": (1, 2), "zz": (1, 2)}))
    with pytest.raises(
        InvalidInputError, match=r"^families\.rope\.ranges\.rows must be the smallest and the largest\."
    ):
        check_set(with_family("rope", ranges={"rows": (2, 1), "width": (1, 2)}))


@pytest.mark.parametrize(
    ("broken", "rule"),
    [
        (
            residuals(800.0, last=0),
            "must reach from what it was widened by to 20.0. Got octave 0, 800.0 widened by 0.0.",
        ),
        (
            residuals(first=61, last=61),
            "must have an octave up to 60 and a size within it. Got octave 61, size 2.30584e+18.",
        ),
        (
            (residuals()[3].model_copy(update={"size": 17.0}),),
            "must have an octave up to 60 and a size within it. Got octave 3, size 17.",
        ),
        ((*residuals(last=1), *residuals(last=0)), "must have each octave once. Got octaves 0, 0, 1."),
    ],
)
def test_residuals_that_can_not_be_a_band_are_refused(broken: tuple[OctaveResiduals, ...], rule: str) -> None:
    with pytest.raises(InvalidInputError) as caught:
        check_set(with_family("rope", residuals=broken))
    assert str(caught.value) == f"families.rope.residuals {rule}"


def test_a_datatype_that_nobody_knows_is_refused_where_it_stands() -> None:
    with pytest.raises(UnknownNameError, match=r"^datatypes\.1\.datatype must be .* Got 'float17'\."):
        with_family("rope", datatypes=("float16", "float17"))
    with pytest.raises(UnknownNameError, match=r"^datatype of families\.gemm:float9 must be .* Got 'float9'\."):
        check_set(set_of(families={"gemm:float9": fit_of("gemm")}))
    check_set(set_of(families={"gemm:float8": fit_of("gemm")}))


def test_each_source_stands_with_its_revision() -> None:
    pool = set_of().model_copy(update={"source": "one, two", "source_revision": "0.12.0, 7d47"})
    assert pool.sources == "one 0.12.0, two 7d47"


def test_a_file_that_another_set_was_copied_over_is_refused_by_its_name(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    a40 = catalog.load_system("a40_48g")
    shutil.copytree(catalog.profiles_folder() / "calibration", tmp_path / "calibration")
    path = tmp_path / "calibration" / "a40_48g" / "vidur.json"
    path.write_text(json.dumps({**json.loads(path.read_text("utf-8")), "name": "mine"}), "utf-8")
    monkeypatch.setattr(catalog, "profiles_folder", lambda: tmp_path)
    with pytest.raises(InvalidInputError) as caught:
        catalog.load_calibration("vidur", a40)
    assert str(caught.value) == (
        "a40_48g/vidur.json.name must be vidur, as the file is called. Got 'mine'. Rename or restore the file."
    )
