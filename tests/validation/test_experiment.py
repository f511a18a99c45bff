"""The experiment: what it reports, and that nothing measured can have leaked into an estimate."""

from __future__ import annotations

import copy
import json
import pickle
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from vidur_profiles import COMPUTE, SERIAL, baseline, case, mapped, times, write

from blueprint_nb.analysis import estimate_inference_phase, load_slice
from blueprint_nb.analysis.oracle import ReadCount
from blueprint_nb.catalog import load_system
from blueprint_nb.cost import AnalyticalProvider, CostProvider
from blueprint_nb.errors import InvalidInputError, OracleError
from blueprint_nb.system import SystemProfile
from blueprint_nb.validation import VidurExperimentCase, VidurExperimentReport, run_vidur_experiment
from blueprint_nb.validation.comparison import compare
from blueprint_nb.validation.freeze import freeze

PHI_2 = "phi-2-dense-mha"

GOLDEN = {"decode b1 c33": ("decode", 33), "decode b1 c129": ("decode", 129), "prefill b1 128": ("prefill", 128)}
"""Name of each case of the slice to its phase and context. Its figures: `tests/regression/test_vidur_baseline.py`."""


@pytest.fixture(scope="module")
def golden() -> VidurExperimentReport:
    cases = [case(n, model=PHI_2, phase=phase, context_tokens=context) for n, (phase, context) in GOLDEN.items()]
    return run_vidur_experiment(cases, load_slice())


def by_mode(report: VidurExperimentReport, name: str, mode: str) -> dict[str, Any]:
    return next(row for row in report.cases.to_dicts() if (row["case"], row["mode"]) == (name, mode))


@pytest.mark.parametrize("name", GOLDEN)
def test_nine_of_the_twelve_components_of_a_block_are_compared(golden: VidurExperimentReport, name: str):
    for mode in golden.modes:
        row = by_mode(golden, name, mode)
        assert (row["component_count"], row["matched_count"], row["flagged_count"]) == (12, 9, 0)
        assert row["coverage"] == 0.75


@pytest.fixture(scope="module")
def real() -> VidurExperimentReport:
    cases = [case(n, model="phi-2", phase=phase, context_tokens=context) for n, (phase, context) in GOLDEN.items()]
    return run_vidur_experiment(cases, load_slice())


@pytest.mark.parametrize("name", GOLDEN)
def test_both_adds_of_a_parallel_block_count_and_together_are_what_was_measured(
    real: VidurExperimentReport, golden: VidurExperimentReport, name: str
):
    for mode in real.modes:
        row = by_mode(real, name, mode)
        assert (row["component_count"], row["matched_count"], row["coverage"]) == (11, 9, 9 / 11)
        components = {one["component"]: one for one in components_of(real, name, mode)}
        adds = [components["branch_add"], components["mlp_residual"]]
        assert [one["reference_seconds"] for one in adds] == [2e-06, 2e-06]
        assert {one["note"] for one in adds} == {"half of `add`, which times both adds of a parallel block"}
        # All that the reference template is compared with but RoPE, of which the real model rotates a part.
        whole = by_mode(golden, name, mode)["reference_seconds"]
        rope = {one["component"]: one for one in components_of(golden, name, mode)}["rope"]["reference_seconds"]
        assert row["reference_seconds"] == pytest.approx(whole - rope, rel=1e-12)


def components_of(report: VidurExperimentReport, name: str, mode: str) -> list[dict[str, Any]]:
    content = json.loads(report.to_json())
    (found,) = [one for one in content["cases"] if (one["case"], one["mode"]) == (name, mode)]
    return list(found["components"])


def test_means_are_over_the_cases_of_their_mode(golden: VidurExperimentReport):
    assert golden.means["mode"].to_list() == golden.modes
    for mean in golden.means.to_dicts():
        rows = golden.cases.filter(mode=mean["mode"])
        assert (mean["case_count"], mean["compared_case_count"], mean["coverage"]) == (3, 3, 0.75)
        subtotals = rows["subtotal_error_percent"].abs()
        assert mean["subtotal_mape_percent"] == pytest.approx(subtotals.mean(), rel=1e-12)
        assert mean["subtotal_max_percent"] == subtotals.max()
        assert mean["component_mape_percent"] == pytest.approx(rows["component_mape_percent"].mean(), rel=1e-12)
        assert mean["component_max_percent"] == rows["component_max_percent"].max()


def test_a_block_is_what_is_compared_and_what_is_excluded(golden: VidurExperimentReport):
    for row in golden.cases.to_dicts():
        assert row["comparable_seconds"] + row["excluded_seconds"] == pytest.approx(row["block_seconds"], rel=1e-12)
        assert row["subtotal_error_seconds"] == row["comparable_seconds"] - row["reference_seconds"]


def test_every_error_is_signed_and_of_its_own_reference(golden: VidurExperimentReport):
    for row in golden.components.to_dicts():
        if row["reference_seconds"] is None:
            assert row["error_percent"] is None
            assert row["reason"]
        else:
            expected = 100 * (row["seconds"] / row["reference_seconds"] - 1)
            assert row["error_percent"] == pytest.approx(expected, rel=1e-9)


def test_nothing_measured_can_have_leaked(golden: VidurExperimentReport):
    content = json.loads(golden.to_json())
    for flag in ("oracle_read_during_lowering", "oracle_read_during_costing", "fit_against_case_outputs"):
        assert content[flag] is False


def test_the_reference_template_claims_no_topology(golden: VidurExperimentReport):
    claims = set(golden.cases["topology_equivalence"])
    assert claims == {"not-claimed-by-raw-component-profile-alignment"}


def test_a_report_names_every_digest(golden: VidurExperimentReport):
    case_row = json.loads(golden.to_json())["cases"][0]
    digests = [name for name in case_row if name.endswith(("_digest", "_revision"))]
    assert len(digests) == 6
    assert all(len(case_row[name]) == 64 for name in digests)
    assert case_row["baseline_revision"] == load_slice().revision


def test_equal_experiments_give_equal_json(golden: VidurExperimentReport):
    cases = [one.case for one in golden.frozen.cases]
    assert run_vidur_experiment(cases, load_slice()).to_json() == golden.to_json()


class Smuggler(CostProvider):
    """Asks an oracle while it prices."""

    name = "smuggler"

    def __init__(self, hide: bool) -> None:
        self.oracle, self.hide = load_slice(), hide

    def cost(self, activity: Any, system: Any, network: Any) -> Any:
        try:
            self.oracle.lookup("mlp_up", {"num_tokens": 1})
        except OracleError:
            if not self.hide:
                raise
        return AnalyticalProvider("peak-only").cost(activity, system, network)


@pytest.mark.parametrize("hide", [False, True])
def test_a_provider_that_asks_an_oracle_is_refused(hide: bool):
    frozen = freeze([case(model=PHI_2)], ReadCount()).cases[0]
    subject = frozen.subject
    with pytest.raises(OracleError, match="can't be read while an estimate is made"):
        estimate_inference_phase(subject.plan, subject.system, subject.network, Smuggler(hide))


def test_an_oracle_is_no_provider():
    subject = freeze([case(model=PHI_2)], ReadCount()).cases[0].subject
    with pytest.raises(TypeError, match="an oracle can't price a plan"):
        estimate_inference_phase(subject.plan, subject.system, subject.network, load_slice())  # type: ignore[arg-type]


def test_the_mode_that_prices_a_case_may_not_ask_an_oracle(monkeypatch: pytest.MonkeyPatch):
    oracle, priced = load_slice(), AnalyticalProvider.cost

    def peek(self: AnalyticalProvider, *arguments: Any) -> Any:
        oracle.lookup("mlp_up", {"num_tokens": 1})
        return priced(self, *arguments)

    monkeypatch.setattr(AnalyticalProvider, "cost", peek)
    with pytest.raises(OracleError):
        run_vidur_experiment([case(model=PHI_2)], oracle)


def test_cases_that_ask_an_oracle_while_they_are_made_are_refused():
    oracle = load_slice()

    def peeking() -> Iterator[VidurExperimentCase]:
        oracle.lookup("mlp_up", {"num_tokens": 1})
        yield case(model=PHI_2)

    with pytest.raises(OracleError):
        run_vidur_experiment(peeking(), oracle)


def test_parts_of_a_class_of_its_own_are_refused_for_they_could_ask_an_oracle():
    class Peeking(SystemProfile):
        pass

    own = Peeking(**load_system("a100_80g").model_dump())
    with pytest.raises(InvalidInputError) as caught:
        run_vidur_experiment([case(model=PHI_2, hardware=own)], load_slice())
    assert str(caught.value) == "case.hardware must be a SystemProfile itself. Got a Peeking."


def test_what_a_thread_reads_meanwhile_shows_in_the_flags(monkeypatch: pytest.MonkeyPatch):
    oracle, priced = load_slice(), AnalyticalProvider.cost

    def peek(self: AnalyticalProvider, *arguments: Any) -> Any:
        thread = threading.Thread(target=oracle.lookup, args=("mlp_up", {"num_tokens": 1}))
        thread.start()
        thread.join()
        return priced(self, *arguments)

    monkeypatch.setattr(AnalyticalProvider, "cost", peek)
    report = run_vidur_experiment([case(model=PHI_2)], oracle)
    flags = (report.oracle_read_during_lowering, report.oracle_read_during_costing, report.fit_against_case_outputs)
    assert flags == (False, True, True)


def test_a_report_groups_its_comparisons_by_case_in_order(golden: VidurExperimentReport):
    assert golden.modes == ["peak-only", "system-evidence", "calibrated"]
    assert list(golden.by_case) == list(GOLDEN)
    for name, group in golden.by_case.items():
        assert [one.frozen.case.name for one in group] == [name] * 3
        assert [one.mode for one in group] == golden.modes
    assert tuple(one for group in golden.by_case.values() for one in group) == golden.comparisons


def test_modes_and_groups_of_a_report_are_read_only_and_survive_a_pickle(golden: VidurExperimentReport):
    with pytest.raises(TypeError):
        golden.by_case["another"] = ()  # type: ignore[index]
    golden.modes.clear()
    again = pickle.loads(pickle.dumps(golden))
    assert again.modes == ["peak-only", "system-evidence", "calibrated"]
    assert {name: len(group) for name, group in again.by_case.items()} == dict.fromkeys(GOLDEN, 3)


def test_a_case_that_lacks_a_mode_is_grouped_beside_one_that_has_it():
    report = run_vidur_experiment([case("a40", hardware="a40_48g"), case("a100")], load_slice())
    assert report.modes == ["peak-only", "calibrated", "system-evidence"]
    assert [len(group) for group in report.by_case.values()] == [2, 3]
    assert report.means["case_count"].to_list() == [2, 2, 1]


def test_a_report_can_be_pickled_and_its_frames_written_to_without_changing_it(golden: VidurExperimentReport):
    before = golden.to_json()
    golden.cases[0, "coverage"] = 0.1
    golden.baseline_files["attention"] = "another"
    assert golden.to_json() == before
    assert pickle.loads(pickle.dumps(golden)).to_json() == before
    assert copy.deepcopy(golden).to_json() == before


@pytest.mark.parametrize("unfrozen", [case(model=PHI_2), None, "an estimate"])
def test_a_comparison_takes_only_frozen_estimates(unfrozen: object):
    with pytest.raises(TypeError, match="a comparison takes a FrozenCase"):
        compare(unfrozen, load_slice())  # type: ignore[arg-type]


def test_a_frozen_estimate_can_not_be_changed():
    frozen = freeze([case(model=PHI_2)], ReadCount()).cases[0]
    with pytest.raises(TypeError):
        frozen.estimates["peak-only"] = frozen.estimates["system-evidence"]  # type: ignore[index]
    with pytest.raises(AttributeError):
        frozen.estimates["peak-only"].costs.costs[0].seconds = 0.0  # type: ignore[misc]


@pytest.mark.parametrize(
    ("cases", "message"),
    [
        ([], "cases must hold at least one case. Got none."),
        (None, "cases must be several VidurExperimentCase. Got None."),
        ([7], "cases must hold VidurExperimentCase only. Got 7."),
        ([case("a"), case("b"), case("a")], "cases.name must differ from case to case. Got 'a' 2 times."),
    ],
)
def test_cases_that_make_no_experiment_are_said(cases: list[Any], message: str):
    with pytest.raises(InvalidInputError) as caught:
        run_vidur_experiment(cases, load_slice())
    assert str(caught.value) == message


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        (
            {"context_tokens": 4097},
            "context_tokens must be at most the sequence length of llama-2-7b, 4,096 tokens. Got 4,097. "
            "Shorten the context.",
        ),
        ({"phase": "chunk"}, "phase must be decode or prefill. Got 'chunk'."),
        (
            {"mapping": mapped(16)},
            "tensor_parallel must be at most 8, the ranks that network tier 0 (in the box) of a100_80g reaches. "
            "Got 16. Use fewer ranks, or another tensor_parallel_network.",
        ),
        ({"batch_size": 0}, "batch_size must be an integer from 1 to 1,000,000,000,000. Got 0."),
        (
            {"seed": 1},
            "seed is not a known field. Got 1. Known fields: attention, batch_size, context_tokens, datatype, hardware, "
            "mapping, model, name, network_binding, phase.",
        ),
    ],
)
def test_a_case_that_can_not_be_estimated_is_said(changes: dict[str, Any], message: str):
    with pytest.raises(InvalidInputError) as caught:
        case(**changes)
    assert str(caught.value) == message


def test_a_mapping_that_can_not_divide_the_model_is_said():
    with pytest.raises(InvalidInputError, match="tensor_parallel"):
        run_vidur_experiment([case(mapping=mapped(5))], load_slice())


def test_an_oracle_of_another_kind_is_refused():
    with pytest.raises(TypeError, match="an experiment takes a VidurProfileBaseline, got dict"):
        run_vidur_experiment([case()], {})  # type: ignore[arg-type]


def test_nothing_covered_is_a_result():
    report = run_vidur_experiment([case()], load_slice())
    row = by_mode(report, "case", "system-evidence")
    assert (row["coverage"], row["matched_count"]) == (0.0, 0)
    for figure in ("subtotal_error_percent", "component_mape_percent", "component_max_percent"):
        assert row[figure] is None
    mean = report.means.to_dicts()[1]
    assert (mean["compared_case_count"], mean["subtotal_mape_percent"]) == (0, None)
    assert json.loads(report.to_json())["cases"][0]["components"][0]["state"] == "not-covered"


COLUMNS: dict[str, dict[str, pl.DataType]] = {
    "cases": {
        **dict.fromkeys(("case", "mode", "model", "hardware", "phase", "datatype"), pl.String()),
        **dict.fromkeys(("tensor_parallel", "pipeline_parallel", "batch_size", "context_tokens"), pl.Int64()),
        **dict.fromkeys(("component_count", "matched_count", "flagged_count"), pl.Int64()),
        **dict.fromkeys(("coverage", "block_seconds", "comparable_seconds", "reference_seconds"), pl.Float64()),
        **dict.fromkeys(("excluded_seconds", "subtotal_error_seconds", "subtotal_error_percent"), pl.Float64()),
        **dict.fromkeys(("component_mape_percent", "component_max_percent"), pl.Float64()),
        "band_count": pl.Int64(),
        **dict.fromkeys(("in_band_share", "subtotal_low_seconds", "subtotal_high_seconds"), pl.Float64()),
        "subtotal_in_band": pl.Boolean(),
        **dict.fromkeys(("topology_equivalence", "model_digest", "distributed_digest"), pl.String()),
        **dict.fromkeys(("portable_plan_digest", "bound_plan_digest"), pl.String()),
        **dict.fromkeys(("hardware_revision", "baseline_revision"), pl.String()),
    },
    "components": {
        **dict.fromkeys(("case", "mode", "component", "primitive", "source_layer"), pl.String()),
        "in_block": pl.Boolean(),
        "state": pl.String(),
        **dict.fromkeys(("seconds", "reference_seconds", "error_seconds", "error_percent"), pl.Float64()),
        "samples": pl.Int64(),
        "spread_seconds": pl.Float64(),
        **dict.fromkeys(("operator", "reason", "note"), pl.String()),
        **dict.fromkeys(("low_seconds", "high_seconds"), pl.Float64()),
        "in_band": pl.Boolean(),
        **dict.fromkeys(("provider", "revision", "match"), pl.String()),
    },
    "means": {
        "mode": pl.String(),
        **dict.fromkeys(("case_count", "compared_case_count"), pl.Int64()),
        **dict.fromkeys(("coverage", "subtotal_mape_percent", "subtotal_max_percent"), pl.Float64()),
        **dict.fromkeys(("component_mape_percent", "component_max_percent"), pl.Float64()),
        "band_count": pl.Int64(),
        **dict.fromkeys(("in_band_share", "subtotal_in_band_share"), pl.Float64()),
    },
}


@pytest.mark.parametrize("frame", COLUMNS)
def test_columns_keep_their_types_even_where_nothing_is_covered(golden: VidurExperimentReport, frame: str):
    nothing = run_vidur_experiment([case()], load_slice())
    plain = run_vidur_experiment([case(model=PHI_2)], load_slice(), modes=["peak-only"])
    for report in (golden, nothing, plain):
        schema = getattr(report, frame).schema
        assert list(schema.items()) == list(COLUMNS[frame].items())
    assert set(nothing.components["operator"]) == {None}


def test_the_worst_component_is_the_one_with_the_largest_error(golden: VidurExperimentReport):
    for one in golden.comparisons:
        worst = one.worst
        assert worst is not None
        assert abs(worst.error_percent or 0.0) == one.component_max_percent == max(map(abs, one.errors_percent))
        assert worst in one.matched


def test_where_nothing_is_compared_no_component_is_the_worst():
    one = run_vidur_experiment([case()], load_slice()).comparisons[0]
    assert (one.worst, one.component_max_percent, one.reference_seconds) == (None, None, 0.0)


def test_a_system_without_curves_is_compared_in_the_modes_it_has():
    report = run_vidur_experiment([case(hardware="a40_48g")], load_slice())
    assert report.cases["mode"].to_list() == ["peak-only", "calibrated"]


def test_flagged_values_are_shown_and_stay_out_of_subtotals(tmp_path: Path):
    good, bad = times(*SERIAL, ms=0.01), times("add", ms=0.01)
    rows = [{**COMPUTE, **good, "time_stats.mlp_act.median": 900.0, **bad}]
    report = run_vidur_experiment([case()], baseline(compute_csv=write(tmp_path / "mlp.csv", rows)))
    row = by_mode(report, "case", "peak-only")
    assert (row["matched_count"], row["flagged_count"]) == (4, 1)
    assert row["reference_seconds"] == pytest.approx(4e-05)
    flagged = report.components.filter(state="flagged", mode="peak-only").to_dicts()
    assert [(one["component"], one["reference_seconds"]) for one in flagged] == [("mlp_activation", 0.9)]
    assert flagged[0]["error_percent"] is not None


def test_what_is_outside_the_block_has_an_error_but_counts_in_no_mean(tmp_path: Path):
    rows = [{**COMPUTE, **times("emb", *SERIAL)}]
    report = run_vidur_experiment([case()], baseline(compute_csv=write(tmp_path / "mlp.csv", rows)))
    embedding = report.components.filter(component="embedding", mode="peak-only").to_dicts()[0]
    assert (embedding["state"], embedding["in_block"]) == ("matched", False)
    assert by_mode(report, "case", "peak-only")["matched_count"] == len(SERIAL)


def test_a_mean_counts_the_compared_cases_alone(tmp_path: Path):
    rows = [{**COMPUTE, **times(*SERIAL)}]
    oracle = baseline(compute_csv=write(tmp_path / "mlp.csv", rows))
    report = run_vidur_experiment([case("one"), case("two", batch_size=2)], oracle)
    mean = report.means.filter(mode="peak-only").to_dicts()[0]
    alone = by_mode(report, "one", "peak-only")
    assert (mean["case_count"], mean["compared_case_count"]) == (2, 1)
    assert mean["coverage"] == alone["coverage"] / 2
    assert mean["component_mape_percent"] == alone["component_mape_percent"]


def test_modes_are_those_that_are_asked_for_and_the_others_change_none(golden: VidurExperimentReport):
    cases = [one.case for one in golden.frozen.cases]
    alone = run_vidur_experiment(cases, load_slice(), modes=["system-evidence"])
    assert alone.modes == ["system-evidence"]
    assert alone.cases.equals(golden.cases.filter(mode="system-evidence"))
    assert alone.components.equals(golden.components.filter(mode="system-evidence"))


@pytest.mark.parametrize(
    ("asked", "message"),
    [
        (
            {"modes": ["calibratd"]},
            "mode must be calibrated, peak-only or system-evidence. Got 'calibratd'. Did you mean calibrated?",
        ),
        (
            {"modes": ["system-evidence"]},
            "modes must hold a mode of a40_48g: peak-only, calibrated. Got system-evidence.",
        ),
        ({"calibration": "vidu"}, "calibration must be pooled or vidur. Got 'vidu'. Did you mean vidur?"),
    ],
)
def test_modes_and_parameters_that_price_nothing_are_said(asked: dict[str, Any], message: str):
    with pytest.raises(InvalidInputError) as caught:
        run_vidur_experiment([case(hardware="a40_48g")], load_slice(), **asked)
    assert str(caught.value) == message


def test_a_band_holds_its_estimate_and_says_whether_it_holds_the_measurement(golden: VidurExperimentReport):
    rows = golden.components.filter(mode="calibrated", state="matched").to_dicts()
    assert len(rows) == 3 * 9
    for row in rows:
        assert row["low_seconds"] <= row["seconds"] <= row["high_seconds"]
        assert row["in_band"] == (row["low_seconds"] <= row["reference_seconds"] <= row["high_seconds"])
        assert row["provider"].startswith("calibrated:")
        assert row["match"]
    others = golden.components.filter(pl.col("mode") != "calibrated")
    for column in ("low_seconds", "high_seconds", "in_band"):
        assert others[column].null_count() == others.height


def test_shares_of_bands_count_the_matched_components_alone(golden: VidurExperimentReport):
    of_mode = golden.components.filter(mode="calibrated")
    for row in golden.cases.filter(mode="calibrated").to_dicts():
        held = of_mode.filter(pl.col("case") == row["case"], pl.col("state") == "matched")["in_band"]
        assert (row["band_count"], row["in_band_share"]) == (9, held.mean())
        assert row["subtotal_low_seconds"] < row["comparable_seconds"] < row["subtotal_high_seconds"]
        within = row["subtotal_low_seconds"] <= row["reference_seconds"] <= row["subtotal_high_seconds"]
        assert row["subtotal_in_band"] == within
    (mean,) = golden.means.filter(mode="calibrated").to_dicts()
    assert (mean["band_count"], mean["in_band_share"]) == (27, of_mode.filter(state="matched")["in_band"].mean())


@pytest.mark.parametrize("model", ["phi-2", "llama-2-7b"])
def test_cases_priced_together_are_what_each_is_alone(model: str):
    steps = [("prefill", 1), ("prefill", 2), ("prefill", 2048), ("decode", 2), ("decode", 2048)]
    cases = [
        case(f"{phase} {tokens} {batch}", model=model, phase=phase, context_tokens=tokens, batch_size=batch)
        for phase, tokens in steps
        for batch in (1, 300)
    ]
    oracle = load_slice()
    together = run_vidur_experiment(cases, oracle, modes=["calibrated"]).comparisons
    for one, whole in zip(cases, together, strict=True):
        (alone,) = run_vidur_experiment([one], oracle, modes=["calibrated"]).comparisons
        for part, own in zip(whole.components, alone.components, strict=True):
            assert part.origin == own.origin
            assert (part.band is None, part.deviation is None) == (own.band is None, own.deviation is None)
            assert part.seconds == pytest.approx(own.seconds, rel=1e-12)
            if part.deviation is not None and own.deviation is not None:
                assert part.deviation.family == own.deviation.family
                assert part.deviation.correlation == own.deviation.correlation
        for cost, own_cost in zip(whole.estimate.costs.costs, alone.estimate.costs.costs, strict=True):
            assert cost.terms.keys() == own_cost.terms.keys()


def test_a_subtotals_band_is_narrower_than_the_sum_of_its_parts(golden: VidurExperimentReport):
    for one in golden.comparisons[2::3]:
        band = one.subtotal_band
        assert band is not None
        parts = [part.band for part in one.matched if part.band is not None]
        assert band.high_seconds <= sum(part.high_seconds for part in parts) * (1 + 1e-12)
        assert band.low_seconds >= sum(part.low_seconds for part in parts) * (1 - 1e-12)


def test_parameters_of_the_measurements_source_are_taken_first_and_others_if_asked_for():
    of_h100 = [case(model=PHI_2, hardware="h100_80g_sxm")]
    default = run_vidur_experiment(of_h100, load_slice()).frozen.cases[0]
    assert default.calibrations[0].name == "vidur"
    pooled = run_vidur_experiment([case(model=PHI_2)], load_slice(), calibration="pooled")
    assert set(pooled.components.filter(mode="calibrated")["provider"]) == {"calibrated:pooled"}


def test_a_report_names_the_parameters_that_priced_what_is_compared(golden: VidurExperimentReport):
    (named,) = json.loads(golden.to_json())["calibrations"]
    assert (named["name"], len(named["revision"])) == ("vidur", 64)
    assert named["revision"] in set(golden.components.filter(mode="calibrated")["revision"])
    nothing = run_vidur_experiment([case()], load_slice())
    assert (nothing.calibrations, json.loads(nothing.to_json())["calibrations"]) == ((), [])
