"""The learned residual as a provider: what it claims, what each row says, and that all else stays as it was."""

from __future__ import annotations

import pickle
from typing import Any

import numpy as np
import polars as pl
import pytest

from blueprint_nb.cost import (
    CalibratedProvider,
    CalibrationSet,
    ComponentCost,
    CostBlock,
    CostResolver,
    LearnedResidualProvider,
)
from blueprint_nb.cost.kernels import Kernel
from blueprint_nb.errors import InvalidInputError, UnsupportedError
from blueprint_nb.evidence import observation_frame

from .sets import A100, NETWORK, fit_of, grid, set_of, step

# Of `architectures.decoder`: the QKV projection of 64 wide activations.
QKV = {"n": (8 + 2 * 2) * 16, "k": 64}
SIZES = [1, 2, 4, 8, 16]
FULL = 1 / 1.3
CALIBRATED = CalibratedProvider(set_of())


def measured(family: str = "gemm", seconds: Any = None, factor: float = 1.2, **changes: Any) -> pl.DataFrame:
    """Kernels that take the form's time times `factor`, or `seconds`."""
    shape = {"m": SIZES, **QKV} if family == "gemm" else {"rows": SIZES, "width": 256}
    shape = {**shape, **{name: changes.pop(name) for name in list(changes) if name in shape}}
    arrays = {name: np.broadcast_to(np.asarray(size), len(SIZES)) for name, size in shape.items()}
    if seconds is None:
        cost = CALIBRATED.kernel_cost(Kernel(family, arrays), "float16", A100)
        assert cost is not None
        seconds = (cost.seconds * factor).tolist()
    base = {
        "target": "a100", "family": family, "component": "op", "datatype": "float16", "software": "vidur",
        "source": "vidur", "source_revision": "r1", "file_sha256": "0" * 64, "licence": "MIT",
    }  # fmt: skip
    columns = {**{name: one.tolist() for name, one in arrays.items()}, "seconds": seconds}
    columns["record"] = [f"made.csv:{line}" for line in range(len(SIZES))]
    return observation_frame(columns, **{**base, **changes})


def learned(*frames: pl.DataFrame, calibration: CalibrationSet | None = None) -> LearnedResidualProvider:
    provider = CALIBRATED if calibration is None else CalibratedProvider(calibration)
    return LearnedResidualProvider(pl.concat(frames or [measured()]), provider)


def priced(layer: LearnedResidualProvider, activity: Any = None) -> CostBlock:
    return CostResolver([layer, CALIBRATED]).resolve(activity or step(), A100, NETWORK)


def of(block: CostBlock, component: str) -> ComponentCost:
    return next(cost for activity, cost in block.priced if activity.component == component)


def test_a_measured_shape_is_corrected_with_its_term_its_band_and_its_coverage() -> None:
    cost, plain = of(priced(learned()), "qkv_projection"), of(priced(learned()), "mlp_down")
    before = of(CALIBRATED.cost(step(), A100, NETWORK), "qkv_projection")
    assert cost.seconds == pytest.approx(before.seconds * 1.2**FULL)
    assert cost.terms["learned_residual"] == pytest.approx(cost.seconds - before.seconds)
    assert cost.band is not None
    assert before.band is not None
    assert cost.band.high_seconds / cost.seconds == pytest.approx(before.band.high_seconds / before.seconds)
    assert cost.band.low_seconds / cost.seconds == pytest.approx(before.band.low_seconds / before.seconds)
    assert (cost.family, cost.correlation) == ("gemm", before.correlation)
    origin = cost.origins[int(cost.origin_index)]
    assert (origin.provider, origin.method) == ("learned-residual:made-up", "learned-residual")
    assert (origin.match, origin.samples, origin.records) == ("coverage 0.77, in range", len(SIZES), ())
    assert "learned_residual" not in plain.terms


def test_what_it_does_not_claim_is_the_calibrated_one_s_own() -> None:
    block, plain = priced(learned()), CALIBRATED.cost(step(), A100, NETWORK)
    assert {activity.component for activity, cost in block.priced if "learned_residual" in cost.terms} == {
        "qkv_projection"
    }
    for activity, cost in block.priced:
        if activity.component != "qkv_projection":
            assert cost == of(plain, activity.component)


def test_points_beyond_what_was_measured_are_equal_to_the_bit() -> None:
    """Measured up to 16 rows, as quicker than the form, so nothing from 32 on."""
    activity = grid([8, 16, 32, 64, 100], [200])
    block, plain = priced(learned(measured(factor=0.8)), activity), CALIBRATED.cost(activity, A100, NETWORK)
    cost, before = of(block, "qkv_projection"), of(plain, "qkv_projection")
    assert (cost.seconds / before.seconds).ravel()[:2] == pytest.approx([0.8**FULL] * 2)
    assert np.ravel(cost.seconds)[2:].tolist() == np.ravel(before.seconds)[2:].tolist()
    assert cost.band is not None
    assert before.band is not None
    assert np.ravel(cost.band.high_seconds)[2:].tolist() == np.ravel(before.band.high_seconds)[2:].tolist()
    index = np.broadcast_to(cost.origin_index, np.shape(cost.seconds)).ravel()
    methods = [cost.origins[place].method for place in index]
    assert methods == ["learned-residual"] * 2 + ["calibrated"] * 3


def test_a_time_held_beyond_what_was_measured_says_that_nothing_covers_it() -> None:
    """One row takes a second: no larger one takes less."""
    slow = learned(measured(m=1, seconds=[1.0] * len(SIZES)))
    cost = of(priced(slow, grid([1, 4], [200])), "qkv_projection")
    matches = [cost.origins[place].match for place in np.ravel(cost.origin_index)]
    assert matches == ["coverage 0.77, in range", "no coverage, held at the time of a smaller size, in range"]
    first, second = np.ravel(cost.seconds)
    assert second >= first


def test_a_layer_that_was_used_can_be_pickled_and_learns_the_same_again() -> None:
    layer = learned()
    before = of(priced(layer), "qkv_projection")
    assert of(priced(pickle.loads(pickle.dumps(layer))), "qkv_projection").seconds == before.seconds


def test_a_gated_activation_is_corrected_and_no_other_row_wise_kernel() -> None:
    frames = [measured(family) for family in ("gated_activation", "rms_norm", "add", "rope")]
    block = priced(learned(*frames))
    assert [activity.component for activity, cost in block.priced if "learned_residual" in cost.terms] == [
        "mlp_activation"
    ]


def test_the_words_of_a_row_say_how_much_and_from_how_near() -> None:
    layer, activity = learned(), step()
    words = {
        one.component: layer.explanation(one, activity, A100, NETWORK)
        for one in activity.components
        if one.component in ("qkv_projection", "mlp_down")
    }
    own = CALIBRATED.explanation(
        next(one for one in activity.components if one.component == "qkv_projection"), activity, A100, NETWORK
    )
    assert words == {"qkv_projection": f"{own}; learned residual +15.1 %, coverage 0.77", "mlp_down": ""}


def test_it_says_no_less_than_the_peaks_allow() -> None:
    """A millionth of the form's time would be less than reading the weights takes."""
    cost = of(priced(learned(measured(factor=1e-6))), "qkv_projection")
    assert cost.seconds == pytest.approx(QKV["n"] * QKV["k"] * 2 / (A100.memory.bandwidth_gb_per_s * 1e9))


def test_only_elements_as_long_are_heard_of() -> None:
    assert "learned_residual" in of(priced(learned(measured(datatype="bfloat16"))), "qkv_projection").terms
    assert "learned_residual" not in of(priced(learned(measured(datatype="float32"))), "qkv_projection").terms


def test_a_family_that_the_set_lacks_is_left_to_others() -> None:
    bare = set_of("rms_norm", "add")
    layer = learned(calibration=bare)
    assert layer.claims(step(), A100, NETWORK) == (None,) * len(step().components)


def test_its_revision_is_that_of_the_measurements_and_of_the_parameters() -> None:
    other = set_of(families={"gemm": fit_of("gemm", residuals=())})
    revisions = [
        learned().revision,
        learned(measured().sample(fraction=1.0, shuffle=True, seed=1)).revision,
        learned(measured(factor=1.3)).revision,
        learned(calibration=other).revision,
    ]
    assert revisions[0] == revisions[1]
    assert len(set(revisions)) == 3


def test_alone_it_prices_no_step() -> None:
    with pytest.raises(UnsupportedError) as caught:
        learned().cost(step(), A100, NETWORK)
    assert str(caught.value) == (
        "embedding is not covered by learned-residual:made-up. Got embedding. Stack the calibration that it corrects "
        "behind it."
    )


def test_a_row_says_how_many_measurements_of_elements_as_long_were_learned_from() -> None:
    cost = of(priced(learned(measured(), measured(datatype="float32"))), "qkv_projection")
    assert cost.origins[int(cost.origin_index)].samples == len(SIZES)


def test_of_many_sources_those_of_the_set_s_own_are_heard() -> None:
    both = learned(measured(), measured(factor=5, source="mine"), measured(factor=5, target="h100"))
    assert both.revision == learned().revision


@pytest.mark.parametrize(
    ("frame", "got"),
    [
        (measured(source="mine"), "a100 from mine by vidur, source revision r1"),
        (measured(target="h100"), "h100 from vidur by vidur, source revision r1"),
        (measured("rope"), "no gemm and no gated_activation"),
    ],
)
def test_measurements_of_others_are_refused(frame: pl.DataFrame, got: str) -> None:
    with pytest.raises(InvalidInputError) as caught:
        learned(frame)
    assert str(caught.value) == (
        "learned_from must hold gemm or gated_activation of one device, source, revision and software, a100 from vidur "
        f"by vidur, which made-up was fitted to. Got {got}. Filter the observations by them, or name the calibration "
        "that was fitted to them."
    )


def test_a_set_of_no_device_may_learn_from_any_but_from_one() -> None:
    pooled = set_of(target="", systems=())
    assert learned(measured(source="mine"), calibration=pooled).name == "learned-residual:made-up"
    with pytest.raises(
        InvalidInputError, match=r"software\. Got a100 from mine by vidur, source revision r1; a100 from vidur by"
    ):
        learned(measured(source="mine"), measured(), calibration=pooled)
