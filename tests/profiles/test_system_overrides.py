"""What-if copies of a system: named, traced, validated; and the figures that no system may have."""

from __future__ import annotations

import math
import os
import pickle
import subprocess
import sys
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from blueprint_nb.catalog import load_system, system_names
from blueprint_nb.errors import BlueprintError, InvalidInputError, UnknownNameError
from blueprint_nb.system import SystemProfile


def refused(name: str, overrides: Any) -> BlueprintError:
    with pytest.raises(InvalidInputError) as caught:
        load_system(name).with_overrides(overrides)
    return caught.value


def test_a_what_if_copy_says_in_its_name_what_changed() -> None:
    base = load_system("a100_80g")
    faster = base.with_overrides({"memory.bandwidth_gb_per_s": 4000, "network.0.latency_us": 2.5})
    assert faster.name == "a100_80g+memory.bandwidth_gb_per_s=4000+network.0.latency_us=2.5"
    assert faster.memory.bandwidth_gb_per_s == 4000
    assert faster.network[0].latency_us == 2.5


def test_a_what_if_copy_leaves_its_origin_as_it_was() -> None:
    base = load_system("a100_80g")
    revision, content = base.revision, base.model_dump()
    base.with_overrides({"network.1.collectives.all_reduce.message_multiple": 2, "matrix.float8_tflop_per_s": 624})
    assert base.revision == revision
    assert base.model_dump() == content


def test_a_what_if_copy_is_no_longer_a_published_preset() -> None:
    faster = load_system("h100_80g_sxm").with_overrides({"compute_units": 264})
    assert faster.kind == "custom"
    assert faster.source_of("compute_units") == "what-if"
    assert faster.source_of("memory.capacity_gib") == load_system("h100_80g_sxm").source_of("memory.capacity_gib")


def test_it_keeps_its_calibrations_where_nothing_that_they_are_read_with_differs() -> None:
    base = load_system("h100_80g_sxm")
    larger = base.with_overrides({"memory.capacity_gib": 160, "memory.bandwidth_gb_per_s": 3350})
    assert (larger.calibrations, larger.base_name, larger.kind) == (base.calibrations, "h100_80g_sxm", "custom")
    assert base.with_overrides({"memory.bandwidth_gb_per_s": 3351}).calibrations == ()
    assert larger.with_overrides({"compute_units": 264}).calibrations == ()


def test_a_replaced_table_keeps_none_of_its_old_sources() -> None:
    memory = {"capacity_gib": 96, "bandwidth_gb_per_s": 4000}
    changed = load_system("a100_80g").with_overrides({"memory": memory})
    assert changed.source_of("memory.bandwidth_gb_per_s") == "what-if"


def test_overrides_follow_one_another() -> None:
    twice = load_system("b200").with_overrides({"compute_units": 160}).with_overrides({"l2_cache_mib": 256})
    assert twice.name == "b200+compute_units=160+l2_cache_mib=256"
    assert (twice.compute_units, twice.l2_cache_mib) == (160, 256)


def test_no_override_is_no_copy() -> None:
    system = load_system("b200")
    assert system.with_overrides({}) is system


@pytest.mark.parametrize("value", [4000, 4000.0, np.float64(4000), np.int64(4000)])
def test_the_type_of_a_number_changes_neither_name_nor_revision(value: object) -> None:
    system = load_system("a100_80g").with_overrides({"memory.bandwidth_gb_per_s": value})
    assert system.name == "a100_80g+memory.bandwidth_gb_per_s=4000"
    assert system.revision == load_system("a100_80g").with_overrides({"memory.bandwidth_gb_per_s": 4000}).revision


@pytest.mark.parametrize("name", system_names())
def test_any_override_changes_the_revision(name: str) -> None:
    system = load_system(name)
    revisions = {system.revision}
    overridable = [path for path, value in system.figures() if value]
    for path in overridable:
        value = dict(system.figures())[path]
        smaller = value * 0.75 if value > 0 and not path.endswith(("max_ranks", "compute_units")) else value
        changed = system.with_overrides({path: smaller if smaller != value else max(1, int(value) - 1)})
        revisions.add(changed.revision)
    assert len(revisions) == len(overridable) + 1


def test_texts_for_the_reader_do_not_change_the_revision() -> None:
    system = load_system("a100_80g")
    retold = SystemProfile(**{**system.model_dump(), "description": "another", "sources": {}})
    assert retold.revision == system.revision


def test_a_revision_is_the_same_in_every_process() -> None:
    code = "from blueprint_nb.catalog import load_system; print(load_system('a100_80g').revision)"
    for seed in ("1", "2"):
        run = subprocess.run(
            [sys.executable, "-c", code],
            env={**os.environ, "PYTHONHASHSEED": seed, "PYTHONPATH": os.pathsep.join(sys.path)},
            capture_output=True,
            text=True,
            check=True,
        )
        assert run.stdout.strip() == load_system("a100_80g").revision


def test_systems_have_different_revisions() -> None:
    assert len({load_system(name).revision for name in system_names()}) == len(system_names())


def test_an_unknown_path_names_the_nearest() -> None:
    error = refused("a100_80g", {"memory.bandwith_gb_per_s": 4000})
    assert isinstance(error, UnknownNameError)
    assert str(error) == (
        "overrides['memory.bandwith_gb_per_s'] must be bandwidth_gb_per_s, capacity_gib, efficiency or "
        "usable_fraction. Got 'bandwith_gb_per_s'. Did you mean bandwidth_gb_per_s?"
    )


def test_an_unknown_top_level_path_names_the_nearest() -> None:
    assert str(refused("a100_80g", {"memry.capacity_gib": 96})) == (
        "overrides['memry.capacity_gib'] must be compute_units, l2_cache_mib, matrix, memory, network, "
        "processing_mode or vector. Got 'memry'. Did you mean memory?"
    )


@pytest.mark.parametrize("path", ["network.2.latency_us", "network.-7.latency_us", "network.first.latency_us"])
def test_a_tier_that_is_not_there_can_not_be_overridden(path: str) -> None:
    got = path.split(".")[1]
    assert str(refused("a100_80g", {path: 1})) == f"overrides[{path!r}] must be 0 or 1. Got {got!r}."


@pytest.mark.parametrize("path", ["memory.capacity_gib.x", "compute_units.0", "matrix.efficiency.0.fraction"])
def test_a_path_that_goes_on_past_a_figure_is_refused(path: str) -> None:
    error = refused("h100_80g_sxm", {path: 0.5})
    assert isinstance(error, UnknownNameError)
    assert error.field == f"overrides[{path!r}]"
    assert error.rule == "can't be chosen: there is nothing to choose from"


def test_a_repeated_index_is_not_taken_for_the_end_of_a_path() -> None:
    error = refused("a100_80g", {"network.0.0": 5})
    assert error.field == "overrides['network.0.0']"


@pytest.mark.parametrize("field", ["name", "sources", "description", "kind"])
def test_what_is_no_figure_can_not_be_overridden(field: str) -> None:
    assert str(refused("a100_80g", {field: "mine"})).startswith(
        f"overrides[{field!r}] must be compute_units, l2_cache_mib, matrix, memory, network, "
        f"processing_mode or vector. Got {field!r}."
    )


@pytest.mark.parametrize("path", ["", 3, None])
def test_what_is_no_path_is_refused(path: object) -> None:
    assert str(refused("a100_80g", {path: 1})) == (
        f"overrides must map dotted paths to values. Got {path!r}. For example memory.bandwidth_gb_per_s."
    )


@pytest.mark.parametrize(
    ("path", "value", "message"),
    [
        (
            "memory.capacity_gib",
            80_000_000_000,
            "memory.capacity_gib must be at most 65,536. Got 80000000000.",
        ),
        ("memory.capacity_gib", True, "memory.capacity_gib must be a number. Got True."),
        ("memory.capacity_gib", np.True_, "memory.capacity_gib must be a number. Got np.True_."),
        ("memory.capacity_gib", "80", "memory.capacity_gib must be a number. Got '80'."),
        ("memory.capacity_gib", None, "memory.capacity_gib must be a number. Got None."),
        ("memory.bandwidth_gb_per_s", 0, "memory.bandwidth_gb_per_s must be at least 0.01. Got 0."),
        (
            "memory.bandwidth_gb_per_s",
            math.nan,
            "memory.bandwidth_gb_per_s must be a finite number. Got nan.",
        ),
        (
            "memory.bandwidth_gb_per_s",
            2_039_000_000_000,
            "memory.bandwidth_gb_per_s must be at most 1,000,000. Got 2039000000000.",
        ),
        ("memory.usable_fraction", 1.2, "memory.usable_fraction must be at most 1. Got 1.2."),
        ("memory.usable_fraction", 0, "memory.usable_fraction must be at least 0.0001. Got 0."),
        ("network.0.bandwidth_gb_per_s", 0, "network.0.bandwidth_gb_per_s must be at least 0.001. Got 0."),
        ("network.0.latency_us", -1, "network.0.latency_us must be at least 0. Got -1."),
        ("network.1.efficiency_fraction", 1.2, "network.1.efficiency_fraction must be at most 1. Got 1.2."),
        ("matrix.efficiency.0.fraction", 1.2, "matrix.efficiency.0.fraction must be at most 1. Got 1.2."),
        (
            "network.0.max_ranks",
            8.0,
            "network.0.max_ranks must be an integer from 1 to 1,000,000,000,000. Got 8.0.",
        ),
        (
            "matrix.efficiency.0.at_least_gflop",
            8,
            "matrix.efficiency must list falling thresholds that end at 0. Got 8, 16, 1, 0. "
            "Every amount of work needs exactly one fraction.",
        ),
        (
            "memory.efficiency",
            [],
            "memory.efficiency must list falling thresholds that end at 0. Got none. "
            "Every amount of work needs exactly one fraction.",
        ),
        (
            "matrix.float16_tflop_per_s",
            None,
            "matrix must have the peak of at least one datatype. Got none. Give float16_tflop_per_s.",
        ),
        (
            "matrix.float16_tflop_per_s",
            3.12e14,
            "matrix.float16_tflop_per_s must be at most 1,000,000. Got 312000000000000.0.",
        ),
        ("network", [], "network must have at least one tier. Got ()."),
        ("memory", 80, "memory must be a table. Got 80."),
        ("processing_mode", "overlap", "processing_mode must be 'no_overlap' or 'roofline'. Got 'overlap'."),
    ],
)  # fmt: skip
def test_a_figure_that_can_not_be_is_refused_with_its_path_and_rule(path: str, value: object, message: str) -> None:

    assert str(refused("a100_80g", {path: value})) == message


def test_a_number_too_large_for_a_float_is_refused() -> None:
    error = refused("a100_80g", {"memory.capacity_gib": 10**400})
    assert (error.field, error.rule) == ("memory.capacity_gib", "must be a number")


def test_an_unknown_collective_is_refused() -> None:
    content = load_system("a100_80g").model_dump()
    content["network"][0]["collectives"]["all_to_all"] = {"message_multiple": 1, "rank_coefficient": 0}
    with pytest.raises(InvalidInputError) as caught:
        SystemProfile(**content)
    assert str(caught.value) == (
        "network.0.collectives.all_to_all must be "
        "'all_reduce', 'all_gather', 'reduce_scatter' or 'point_to_point'. Got 'all_to_all'."
    )


def test_the_error_of_an_override_can_be_pickled() -> None:
    error = refused("a100_80g", {"memory.capacity_gib": 80_000_000_000})
    assert str(pickle.loads(pickle.dumps(error))) == str(error)


@given(bandwidth=st.floats(min_value=0.01, max_value=1e6))
def test_every_plausible_bandwidth_is_taken_as_it_is(bandwidth: float) -> None:
    system = load_system("a100_80g").with_overrides({"memory.bandwidth_gb_per_s": bandwidth})
    assert system.memory.bandwidth_gb_per_s == bandwidth


@given(value=st.one_of(st.booleans(), st.text(max_size=5), st.floats(max_value=0), st.just(math.inf), st.none()))
def test_whatever_else_is_given_as_a_bandwidth_is_refused_at_its_path(value: object) -> None:
    assert refused("a100_80g", {"memory.bandwidth_gb_per_s": value}).field == "memory.bandwidth_gb_per_s"
