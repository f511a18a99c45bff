"""Who prices in which mode, and what a user may put before it."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import polars as pl
import pytest

import blueprint_nb as bp
from blueprint_nb.analysis import RequestInputs, estimate_request
from blueprint_nb.analysis.explain import explanation_of
from blueprint_nb.analysis.providers import calibrations_of, default_mode, provider_for, provider_of
from blueprint_nb.analysis.step import step_of
from blueprint_nb.catalog import load_calibration, profiles_folder, system_names
from blueprint_nb.errors import BlueprintError, InvalidInputError, ProfileError, UnknownNameError, UnsupportedError
from blueprint_nb.evidence import PerformanceDatabase, observation_frame

SYSTEM = "a100_80g_pcie"
SHORT = {"batch_size": 2, "prompt_tokens": 100, "generated_tokens": 4}


def measured(target: str = "a100", **changes: Any) -> pl.DataFrame:
    """The QKV projection of phi-2 in a decode step of two sequences."""
    base = {
        "target": target, "family": "gemm", "component": "op", "datatype": "float16", "software": "vidur",
        "seconds": 1e-5, "source": "vidur", "source_revision": "r1", "file_sha256": "0" * 64, "licence": "MIT",
        "m": 2, "n": 3 * 2560, "k": 2560,
    }  # fmt: skip
    return observation_frame({"record": ["mlp.csv:2"]}, **{**base, **changes})


def estimate(system: str | bp.SystemProfile = SYSTEM, **arguments: Any) -> bp.Estimate:
    return bp.estimate("phi-2", system, **{**SHORT, **arguments})


def component(est: bp.Estimate, name: str, phase: str = "decode") -> dict[str, Any]:
    rows = est.components.filter((pl.col("component") == name) & (pl.col("phase") == phase))
    return rows.row(0, named=True)


def test_the_default_mode_is_calibrated_but_for_the_reference_presets() -> None:
    modes = {name: default_mode(bp.load_system(name)) for name in system_names()}
    assert {name for name, mode in modes.items() if mode == "system-evidence"} == {"a100_80g", "h100_80g_nvl8"}
    assert set(modes.values()) == {"calibrated", "system-evidence"}
    bare = bp.load_system(SYSTEM).model_copy(update={"compute_units": None, "calibrations": ()})
    assert default_mode(bare) == "system-evidence"


@pytest.mark.parametrize("calibration", ["vidur", "pooled"])
def test_a_calibration_that_is_named_implies_the_mode_it_belongs_to(calibration: str) -> None:
    est = estimate("a100_80g", calibration=calibration)
    assert (est.inputs.mode, est.inputs.calibration) == ("calibrated", calibration)
    assert est.to_json() == estimate("a100_80g", mode="calibrated", calibration=calibration).to_json()
    swept = bp.sweep("phi-2", "a100_80g", calibration=calibration)
    assert swept.equals(bp.sweep("phi-2", "a100_80g", mode="calibrated", calibration=calibration))


def test_a_what_if_is_priced_by_the_pooled_calibration_alone() -> None:
    what_if = bp.load_system(SYSTEM).with_overrides({"memory.bandwidth_gb_per_s": 3000})
    assert calibrations_of(what_if) == ("pooled",)
    est = estimate(what_if)
    assert (est.inputs.mode, est.inputs.calibration) == ("calibrated", "pooled")
    assert est.components["provider"].unique().to_list() == ["calibrated:pooled"]


@pytest.mark.parametrize("name", system_names())
@pytest.mark.parametrize("mode", [None, "calibrated"])
def test_a_what_if_that_no_kernel_feels_is_priced_as_its_base_to_the_bit(name: str, mode: str | None) -> None:
    base = bp.load_system(name)
    as_it_is = estimate(base, mode=mode, tensor_parallel=2)
    same = {"memory.bandwidth_gb_per_s": base.memory.bandwidth_gb_per_s, "compute_units": base.compute_units}
    for overrides in ({"memory.capacity_gib": 2 * base.memory.capacity_gib}, {"memory.usable_fraction": 0.5}, same):
        est = estimate(base.with_overrides(overrides), mode=mode, tensor_parallel=2)
        assert (est.inputs.mode, est.inputs.calibration) == (as_it_is.inputs.mode, as_it_is.inputs.calibration)
        assert est.verdict.basis == as_it_is.verdict.basis
        assert est.components.drop("revision").equals(as_it_is.components.drop("revision"))


def test_a_calibration_can_be_named_of_a_what_if_that_no_kernel_feels() -> None:
    larger = bp.load_system("h100_80g_sxm").with_overrides({"memory.capacity_gib": 160})
    est = estimate(larger, calibration="vidur")
    assert est.prefill_seconds == estimate("h100_80g_sxm", calibration="vidur").prefill_seconds
    assert estimate_request(RequestInputs(**json.loads(est.to_json())["inputs"])).to_json() == est.to_json()


@pytest.mark.parametrize(
    "overrides",
    [
        {"memory.bandwidth_gb_per_s": 3350 * (1 + 1e-9)},
        {"network.0.bandwidth_gb_per_s": 451},
        {"network.1.bandwidth_gb_per_s": 51},
        {"network.0.peer_bandwidth_gb_per_s": 450},
        {"network.0.name": "NVLink 9"},
        {"matrix.float8_tflop_per_s": 2000},
        {"compute_units": 131, "memory.capacity_gib": 160},
    ],
    ids=str,
)
def test_a_what_if_that_any_form_reads_is_priced_by_the_pool(overrides: dict[str, Any]) -> None:
    what_if = bp.load_system("h100_80g_sxm").with_overrides(overrides)
    assert calibrations_of(what_if) == ("pooled",)
    assert estimate(what_if).inputs.calibration == "pooled"
    assert calibrations_of(what_if.with_overrides({"memory.capacity_gib": 96})) == ("pooled",)


def test_a_set_that_was_fitted_to_the_base_of_a_what_if_is_refused_with_the_reason() -> None:
    what_if = bp.load_system("h100_80g_sxm").with_overrides({"memory.bandwidth_gb_per_s": 4000})
    for call in (estimate, lambda one, **given: bp.sweep("phi-2", one, **given)):
        with pytest.raises(UnknownNameError) as caught:
            call(what_if, calibration="vllm-0.24")
        assert str(caught.value) == (
            "calibration must be pooled for h100_80g_sxm+memory.bandwidth_gb_per_s=4000, whose figures were changed, so "
            "that it is no longer the GPU that sets of h100_80g_sxm were fitted to. Got 'vllm-0.24'. "
            "Compare it with h100_80g_sxm by calibration='pooled' for both."
        )


@pytest.mark.parametrize("overrides", [{}, {"memory.bandwidth_gb_per_s": 6000}])
def test_a_system_without_sets_says_so_where_one_is_named(overrides: dict[str, Any]) -> None:
    system = bp.load_system("mi300x_192g").with_overrides(overrides)
    with pytest.raises(UnknownNameError) as caught:
        estimate(system, calibration="vidur")
    assert str(caught.value) == (
        f"calibration must be pooled for {system.name}, which has no sets of its own. Got 'vidur'. "
        "Leave it out, or use calibration='pooled'."
    )


def test_a_sweep_of_a_what_if_that_no_kernel_feels_is_that_of_its_base() -> None:
    base = bp.load_system("h100_80g_sxm")
    frames = [
        bp.sweep("phi-2", one, batch_size=[1, 8], by_component=True).drop("revision")
        for one in (base, base.with_overrides({"memory.capacity_gib": 160}))
    ]
    assert frames[0].equals(frames[1])


def test_the_named_calibration_is_asked_first_and_the_pooled_one_last() -> None:
    system = bp.load_system("h100_80g_sxm")
    names = calibrations_of(system)
    for name in names:
        others = [one for one in names if one != name]
        assert provider_of(system, "calibrated", name).name == " → ".join(
            f"calibrated:{one}" for one in (name, *others)
        )


def test_asserted_seconds_come_before_evidence_and_both_before_the_mode() -> None:
    est = estimate(evidence=measured(), asserted={"mlp_up": 7e-5})
    qkv, up, core = (component(est, name) for name in ("qkv_projection", "mlp_up", "attention_core"))
    assert (qkv["method"], qkv["seconds"], qkv["records"], qkv["samples"]) == ("exact-evidence", 1e-5, "mlp.csv:2", 1)
    assert (up["method"], up["seconds"]) == ("user-asserted", 7e-5)
    assert core["method"] == "calibrated"
    assert component(est, "qkv_projection", "prefill")["method"] == "calibrated"
    over = estimate(evidence=measured(), asserted={"qkv_projection": 7e-5})
    assert component(over, "qkv_projection")["method"] == "user-asserted"


@pytest.mark.parametrize("mode", ["peak-only", "calibrated"])
def test_what_is_stacked_changes_nothing_else(mode: str) -> None:
    plain, stacked = estimate(mode=mode), estimate(mode=mode, asserted={"attention_core": 45e-6})
    rest = [
        est.components.filter(pl.col("component") != "attention_core").drop("provider", "revision")
        for est in (plain, stacked)
    ]
    assert rest[0].equals(rest[1])
    core = stacked.components.filter(pl.col("component") == "attention_core")
    assert core["seconds"].unique().to_list() == [45e-6]


def test_inputs_and_json_record_what_was_stacked_by_name_and_revision() -> None:
    est = estimate(evidence=measured(), asserted={"mlp_up": 7e-5})
    recorded = json.loads(est.to_json())["inputs"]["stacked"]
    assert [(one["name"], one["method"]) for one in recorded] == [
        ("user-asserted:mlp_up", "user-asserted"),
        ("exact-evidence:vidur from vidur r1", "exact-evidence"),
    ]
    assert {row["revision"] for row in recorded} < set(est.components["revision"])
    assert all(set(one) == {"name", "method", "revision"} for one in recorded)


def test_the_same_request_is_priced_alike_again_and_on_other_mappings() -> None:
    est = estimate(evidence=measured(), asserted={"mlp_up": 7e-5})
    assert estimate_request(est.inputs).to_json() == est.to_json()
    assert provider_for(est.inputs).name.startswith("user-asserted:mlp_up → exact-evidence:vidur from vidur r1 → ")
    wider = est.inputs.model_copy(update={"mapping": est.inputs.mapping.model_copy(update={"tensor_parallel": 2})})
    assert component(estimate_request(wider), "mlp_up")["method"] == "user-asserted"


def test_inputs_from_a_file_can_not_price_with_what_they_only_name() -> None:
    est = estimate(asserted={"mlp_up": 7e-5})
    saved = RequestInputs(**json.loads(est.to_json())["inputs"])
    with pytest.raises(InvalidInputError) as caught:
        estimate_request(saved)
    assert str(caught.value) == (
        "stacked can't be priced with: its figures are not in what was saved. Got user-asserted:mlp_up. "
        "Give evidence=, asserted= or learned_from= again."
    )


def test_digests_are_what_they_were_where_nothing_is_stacked() -> None:
    plain = estimate(mode="peak-only")
    assert json.loads(plain.to_json())["inputs"]["stacked"] == []
    content = plain.inputs.model_dump()
    assert RequestInputs(**content) == plain.inputs
    stacked = estimate(mode="peak-only", asserted={"mlp_up": 7e-5})
    assert json.loads(stacked.to_json())["digests"] == json.loads(plain.to_json())["digests"]


def test_evidence_may_be_a_database_its_folder_or_a_frame(tmp_path: Path) -> None:
    database = PerformanceDatabase.create(tmp_path / "db").add(measured())
    frames = [
        estimate(evidence=one).components for one in (database, tmp_path / "db", str(tmp_path / "db"), measured())
    ]
    assert all(frame.equals(frames[0]) for frame in frames)
    assert "exact-evidence" in set(frames[0]["method"])


@pytest.mark.parametrize("argument", ["evidence", "learned_from"])
def test_a_folder_of_profiles_is_no_evidence_and_the_message_says_what_reads_it(argument: str) -> None:
    folder = profiles_folder() / "vidur"
    with pytest.raises(ProfileError) as caught:
        estimate(**{argument: folder})
    assert str(caught.value).startswith(f"{folder} holds no performance database. ")
    reading = (
        'VidurProfileImporter(source_revision="…").read_folder(folder).observations of blueprint_nb.evidence.vidur.'
    )
    assert str(caught.value).endswith(f"read them with {reading}")


def test_evidence_counts_for_the_device_that_a_calibration_was_fitted_to_or_by_the_system_s_name() -> None:
    source = load_calibration("vidur", bp.load_system(SYSTEM))
    assert (source.source, source.target) == ("vidur", "a100")
    own = measured(SYSTEM, source="mine", software="mine")
    assert component(estimate(evidence=own), "qkv_projection")["method"] == "exact-evidence"
    for other in (measured("h100"), measured(source="mine")):
        with pytest.raises(InvalidInputError) as caught:
            estimate(evidence=other)
        assert str(caught.value).startswith(
            "evidence must hold observations of a100 from vidur, of the target a100_80g_pcie. Got "
        )
        assert str(caught.value).endswith("Where one of them is this device, write a100_80g_pcie in its column target.")


def test_a_what_if_has_no_evidence_but_its_own() -> None:
    what_if = bp.load_system(SYSTEM).with_overrides({"memory.bandwidth_gb_per_s": 3000})
    with pytest.raises(InvalidInputError, match="must hold observations of the target a100_80g_pcie"):
        estimate(what_if, evidence=measured())


def test_a_what_if_that_no_kernel_feels_has_the_evidence_of_its_base() -> None:
    larger = bp.load_system(SYSTEM).with_overrides({"memory.capacity_gib": 160})
    for evidence in (measured(), measured(SYSTEM, source="mine", software="mine")):
        assert component(estimate(larger, evidence=evidence), "qkv_projection")["method"] == "exact-evidence"


def test_two_software_versions_of_one_shape_are_an_error_until_one_is_left_out() -> None:
    both = pl.concat([measured(software_version="1"), measured(software_version="2", seconds=2e-5)])
    with pytest.raises(
        InvalidInputError, match=r"exact-evidence:vidur 1 from vidur r1 and exact-evidence:vidur 2 from"
    ):
        estimate(evidence=both)
    one = estimate(evidence=both.filter(pl.col("software_version") == "2"))
    assert component(one, "qkv_projection")["seconds"] == 2e-5


def test_a_layer_learns_from_measurements_where_it_is_asked_for_and_says_so() -> None:
    plain = component(estimate(), "qkv_projection")
    slower = measured(seconds=2 * plain["seconds"])
    est = estimate(learned_from=slower)
    row = component(est, "qkv_projection")
    assert row["seconds"] == pytest.approx(plain["seconds"] * 2 ** (1 / 1.3))
    assert (row["provider"], row["method"], row["match"]) == (
        "learned-residual:vidur",
        "learned-residual",
        "coverage 0.77, in range",
    )
    assert [(one.name, one.method) for one in est.inputs.stacked] == [("learned-residual:vidur", "learned-residual")]
    step = step_of(est, "decode")
    activity, cost = next(one for one in step.costs.priced if one[0].component == "qkv_projection")
    assert explanation_of(est, step, activity, cost).endswith("; learned residual +70.4 %, coverage 0.77")
    rows = bp.sweep("phi-2", SYSTEM, batch_size=2, context_tokens=101, by_component=True, learned_from=slower)
    assert rows.filter(component="qkv_projection")["seconds"].to_list() == [row["seconds"]]


def test_what_is_measured_or_asserted_comes_before_what_is_learned() -> None:
    est = estimate(learned_from=measured(seconds=1e-4), evidence=measured())
    assert component(est, "qkv_projection")["method"] == "exact-evidence"
    assert [one.method for one in est.inputs.stacked] == ["exact-evidence", "learned-residual"]


def test_a_layer_that_no_kernel_comes_near_is_said_to_correct_nothing() -> None:
    far = measured(n=333, k=77)
    est = estimate(learned_from=far)
    assert est.verdict.unasked == "learned-residual:vidur corrects nothing"
    assert estimate(learned_from=measured()).verdict.unasked == ""
    with pytest.warns(UserWarning, match=r"^in this sweep, learned-residual:vidur corrects nothing$"):
        bp.sweep("phi-2", SYSTEM, learned_from=far)


def test_a_layer_needs_the_calibrated_mode_and_measurements_of_the_system() -> None:
    with pytest.raises(InvalidInputError) as caught:
        estimate(mode="peak-only", learned_from="measured")
    assert str(caught.value) == (
        "learned_from belongs to mode='calibrated', the only one that it can correct. Got 'measured'. "
        "Leave it out, or choose that mode."
    )
    with pytest.raises(InvalidInputError, match=r"to mode='calibrated', .* Got 1 observations\. Leave it out"):
        estimate(mode="peak-only", learned_from=measured())
    with pytest.raises(InvalidInputError) as caught:
        estimate(learned_from=measured("h100"))
    assert str(caught.value) == (
        "learned_from must hold observations of a100 from vidur, of the target a100_80g_pcie. Got h100 from vidur. "
        "With calibration='pooled': where one of them is this device, write a100_80g_pcie in its column target."
    )
    twice = pl.concat([measured(), measured(source_revision="another")])
    with pytest.raises(InvalidInputError, match=r"source revision another; a100 from vidur by .*, source revision "):
        estimate(learned_from=twice)
    with pytest.raises(InvalidInputError, match=r"^learned_from must be a PerformanceDatabase, the path of one, or"):
        estimate(learned_from=1)
    with pytest.raises(InvalidInputError, match=r"^learned_from must hold gemm or gated_activation of one device, "):
        estimate(learned_from=measured(SYSTEM, source="mine"))
    pooled = estimate(learned_from=measured(SYSTEM, source="mine"), calibration="pooled")
    assert component(pooled, "qkv_projection")["provider"] == "learned-residual:pooled"


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (
            {"evidence": 7},
            "evidence must be a PerformanceDatabase, the path of one, or a polars DataFrame of observations. Got 7.",
        ),
        (
            {"evidence": ""},
            "evidence must be a PerformanceDatabase, the path of one, or a polars DataFrame of observations. Got ''.",
        ),
        ({"evidence": pl.DataFrame({"a": [1]})}, "observations, column a is no column of the table. Leave it out."),
        ({"host_overhead": 1}, "host_overhead must be true or false. Got 1."),
    ],
)
def test_what_can_not_be_stacked_is_refused(arguments: dict[str, Any], message: str) -> None:
    for call in (estimate, lambda **given: bp.sweep("phi-2", SYSTEM, **given)):
        with pytest.raises(BlueprintError) as caught:
            call(**arguments)
        assert str(caught.value) == message


def test_a_sweep_stacks_as_an_estimate_does() -> None:
    given = {"evidence": measured(), "asserted": {"mlp_up": 7e-5, "host_overhead": 3e-3}, "host_overhead": True}
    swept = bp.sweep("phi-2", SYSTEM, batch_size=[1, 2], context_tokens=101, by_component=True, **given)
    est = estimate(**given).components.filter((pl.col("phase") == "decode") & (pl.col("context_tokens") == 101))
    same = ["component", "seconds", "low_seconds", "high_seconds", "provider", "method", "match", "records"]
    assert swept.filter(pl.col("batch_size") == 2).select(same).equals(est.select(same))
    methods = dict(swept.filter(pl.col("component") == "qkv_projection").select("batch_size", "method").rows())
    assert methods == {1: "calibrated", 2: "exact-evidence"}


def test_host_overhead_is_off_unless_it_is_asked_for() -> None:
    assert "host_overhead" not in set(estimate().components["component"])


@pytest.mark.parametrize("mode", ["peak-only", "calibrated"])
def test_host_overhead_is_a_component_of_each_step_and_part_of_its_seconds(mode: str) -> None:
    plain = estimate(mode=mode)
    est = estimate(mode=mode, host_overhead=True, asserted={"host_overhead": 3e-3})
    row = component(est, "host_overhead")
    assert (row["seconds"], row["count"], row["bound"], row["source_layer"]) == (3e-3, 1, "floor", "host")
    assert est.prefill_seconds == pytest.approx(plain.prefill_seconds + 3e-3)
    assert est.decode_seconds == pytest.approx(plain.decode_seconds + 3e-3)
    sums = est.components.group_by("phase", "context_tokens", maintain_order=True).agg(
        (pl.col("seconds") * pl.col("count")).sum()
    )
    assert sums["seconds"].to_list() == pytest.approx([est.prefill_seconds, *est.decode_seconds])
    assert est.decode["stack_seconds"].equals(plain.decode["stack_seconds"])
    assert json.loads(est.to_json())["inputs"]["host_overhead"] is True


def test_host_overhead_without_parameters_is_refused_and_says_what_to_do() -> None:
    what_if = bp.load_system("b200")
    if any("host" in load_calibration(name, what_if).families for name in calibrations_of(what_if)):
        pytest.skip("A calibration of the B200 prices the host.")
    with pytest.raises(UnsupportedError) as caught:
        estimate(what_if, host_overhead=True)
    assert str(caught.value) == (
        f"host_overhead has no parameters in any calibration of b200: {', '.join(calibrations_of(what_if))}. Got True. "
        "Leave it out, or give the seconds of a step besides: asserted={'host_overhead': 0.005}."
    )


def test_a_profile_that_was_changed_under_its_name_is_not_priced_by_its_sets(tmp_path: Path) -> None:
    text = (profiles_folder() / "systems" / "h100_80g_sxm.toml").read_text(encoding="utf-8")
    changed = tmp_path / "h100_80g_sxm.toml"
    changed.write_text(text.replace("bandwidth_gb_per_s = 3_350", "bandwidth_gb_per_s = 335"), encoding="utf-8")
    with pytest.raises(InvalidInputError) as caught:
        bp.estimate("llama-3.1-8b", changed)
    assert str(caught.value) == (
        "h100_80g_sxm.calibrations name sets that were fitted to a device of other figures. "
        "Got bytes_per_second 3.35e+11, not 3.35e+12. "
        "Take `calibrations` out of the profile, so that the pooled one prices it."
    )


def test_a_link_that_was_changed_under_its_name_is_priced_by_the_pool(tmp_path: Path) -> None:
    text = (profiles_folder() / "systems" / "h100_80g_sxm.toml").read_text(encoding="utf-8")
    changed = tmp_path / "h100_80g_sxm.toml"
    changed.write_text(text.replace("bandwidth_gb_per_s = 450", "bandwidth_gb_per_s = 45"), encoding="utf-8")
    for system, provider in (("h100_80g_sxm", "calibrated:vllm-0.24"), (changed, "calibrated:pooled")):
        rows = bp.estimate("llama-3.1-8b", system, tensor_parallel=2, generated_tokens=2).components
        assert set(rows.filter(pl.col("component") == "mlp_all_reduce")["provider"]) == {provider}


def test_pcie_of_any_generation_is_priced_as_a_link_through_the_host(tmp_path: Path) -> None:
    text = (profiles_folder() / "systems" / "a100_80g_pcie.toml").read_text(encoding="utf-8")
    seconds = []
    for name in ("PCIe 4.0 x16", "PCIe Gen4 x16"):
        path = tmp_path / "mine.toml"
        mine = text.replace('name = "a100_80g_pcie"', 'name = "mine"').replace('calibrations = ["vidur"]\n', "")
        path.write_text(mine.replace("PCIe 4.0 x16", name), encoding="utf-8")
        seconds.append(bp.estimate("llama-3.1-8b", path, tensor_parallel=4, generated_tokens=2).prefill_seconds)
    assert seconds[0] == seconds[1]


def test_a_profile_without_figures_is_told_which_to_give_and_how() -> None:
    bare = bp.load_system(SYSTEM).model_copy(
        update={"name": "mine", "compute_units": None, "l2_cache_mib": None, "calibrations": ()}
    )
    message = (
        "mine must give compute_units and l2_cache_mib to be priced in the mode calibrated. Got a profile without "
        "compute_units and l2_cache_mib. Add to the profile figures such as compute_units = 132 and l2_cache_mib = 50 (of an "
        "H100), or use mode='peak-only'."
    )
    # Neither are there curves, so that no mode could be the default.
    for mode in ("calibrated", None):
        with pytest.raises(UnsupportedError) as caught:
            estimate(bare, mode=mode)
        assert str(caught.value) == message
    assert estimate(bare, mode="peak-only").prefill_seconds > 0


def test_one_figure_that_lacks_is_named_alone() -> None:
    bare = bp.load_system("h100_80g_nvl8").model_copy(
        update={"name": "mine", "kind": "custom", "l2_cache_mib": None, "compute_units": 132, "calibrations": ()}
    )
    with pytest.raises(UnsupportedError) as caught:
        estimate(bare, mode="calibrated")
    assert str(caught.value) == (
        "mine must give l2_cache_mib to be priced in the mode calibrated. Got a profile without l2_cache_mib. Add to the "
        "profile figures such as l2_cache_mib = 50 (of an H100), or use mode='peak-only' or "
        "mode='system-evidence'."
    )
    assert estimate(bare).inputs.mode == "system-evidence"


@pytest.mark.parametrize(
    ("name", "figures"),
    [
        ("a100_80g", "compute_units = 108 and l2_cache_mib = 40"),
        ("h100_80g_nvl8", "compute_units = 132 and l2_cache_mib = 50"),
    ],
)
def test_the_example_for_a_what_if_of_a_preset_is_of_its_own_device(name: str, figures: str) -> None:
    what_if = bp.load_system(name).with_overrides({"memory.bandwidth_gb_per_s": 3000})
    with pytest.raises(UnsupportedError) as caught:
        estimate(what_if, mode="calibrated")
    assert str(caught.value).endswith(
        f"Add to the overrides figures such as {figures} (of the device of {name}), or use mode='peak-only' or "
        "mode='system-evidence'."
    )


def test_a_preset_says_in_which_datatype_it_can_not_be_calibrated() -> None:
    with pytest.raises(UnsupportedError) as caught:
        estimate("h100_80g_nvl8", mode="calibrated", datatype="float8")
    assert str(caught.value) == (
        "h100_80g_nvl8 must give compute_units and l2_cache_mib to be priced by its own figures in the mode calibrated. "
        "Got float8 and a profile without compute_units and l2_cache_mib. Use another mode, or float16, "
        "which it has peaks of."
    )


def test_a_message_counts_in_bytes_whatever_they_stand_for() -> None:
    """Collectives were measured in 16 bits; of 8 bits the system's own links price them all the same, and GEMMs of 8
    bits have parameters of their own, while norms are left to the pool, which says that it saw no float8.
    """
    priced = bp.estimate("llama-3.1-70b", "h100_80g_sxm", tensor_parallel=4, datatype="float8").components
    whose = {row["component"]: (row["provider"], row["match"]) for row in priced.iter_rows(named=True)}
    assert whose["mlp_all_reduce"] == ("calibrated:vllm-0.24", "in range")
    assert whose["mlp_up"] == ("calibrated:vllm-0.24", "in range")
    assert whose["input_norm"] == ("calibrated:pooled", "outside range: float8")


def test_the_pool_has_parameters_of_eight_bit_products_too() -> None:
    what_if = bp.load_system("h100_80g_sxm").with_overrides({"memory.bandwidth_gb_per_s": 4000})
    priced = bp.estimate("llama-3.1-8b", what_if, datatype="float8", **SHORT)
    assert component(priced, "mlp_up")["match"] == "in range"
    assert component(priced, "input_norm")["match"] == "outside range: float8"
    assert load_calibration("pooled", what_if).families["gemm:float8"].kernel == "quantised"
