"""The systems that ship: the reference presets to the digit, and a source for every figure of every one."""

from __future__ import annotations

import pytest

from blueprint_nb.catalog import load_system, profiles_folder, system_names
from blueprint_nb.errors import InvalidInputError, UnsupportedError
from blueprint_nb.system import SystemProfile

REFERENCE = ("a100_80g", "h100_80g_nvl8")
DATASHEETS = (
    "a100_80g_pcie", "a100_80g_sxm", "a40_48g", "b200", "h100_80g_sxm", "h200_141g_sxm", "l40s_48g",
    "mi300x_192g",
)  # fmt: skip

MATRIX_CURVE = [(128, 0.95), (16, 0.90), (1, 0.60), (0, 0.10)]
VECTOR_CURVE = [(16, 0.95), (1, 0.50), (0, 0.10)]
MEMORY_CURVE = [(100, 0.90), (10, 0.75), (1, 0.60), (0, 0.30)]
ONE_CROSSING = {
    "all_reduce": (1, 0),
    "all_gather": (1, 0),
    "reduce_scatter": (1, 0),
    "point_to_point": (1, 0),
}

REFERENCE_TABLES = {
    "a100_80g": {
        "matrix": {"float16": 312},
        "vector": {"float16": 78},
        "memory": (80, 2048, 1.0),
        "network": [
            (300, 0.65, 8, 10, {
                "all_reduce": (2, -1),
                "all_gather": (1.5, -1),
                "reduce_scatter": (1.5, -1),
                "point_to_point": (1, 0),
            }),
            (25, 0.9, 65_536, 20, ONE_CROSSING),
        ],
    },
    "h100_80g_nvl8": {
        "matrix": {"float16": 1000, "float8": 2000},
        "vector": {"float16": 120, "float8": 120},
        "memory": (80, 3072, 1.0),
        "network": [
            (450, 0.65, 8, 10, {
                "all_reduce": (1, 1),
                "all_gather": (1, 0),
                "reduce_scatter": (1, 0),
                "point_to_point": (1, 0),
            }),
            (50, 0.9, 65_536, 20, ONE_CROSSING),
        ],
    },
}  # fmt: skip

# units, L2 MiB, matrix float16, vector float16, GiB, GB/s, and (GB/s, ranks) of each tier
DATASHEET_TABLE = {
    "a100_80g_sxm": (108, 40, 312, 78, 80, 2039, [(300, 8), (25, 65_536)]),
    "a100_80g_pcie": (108, 40, 312, 78, 80, 1935, [(32, 8), (300, 2), (25, 65_536)]),
    "h100_80g_sxm": (132, 50, 989.4, 133.8, 80, 3350, [(450, 8), (50, 65_536)]),
    "h200_141g_sxm": (132, 50, 989.4, 133.8, 141, 4800, [(450, 8), (50, 65_536)]),
    "b200": (148, 126, 2250, 150, 180, 8000, [(900, 8), (50, 65_536)]),
    "a40_48g": (84, 6, 149.7, 37.4, 45, 696, [(32, 8), (56.25, 2), (25, 65_536)]),
    "l40s_48g": (142, 96, 362.05, 91.6, 45, 864, [(32, 8), (25, 65_536)]),
    "mi300x_192g": (304, 32, 1307.4, 163.4, 192, 5300, [(448, 8), (50, 65_536)]),
}

WITHOUT_FLOAT8 = ("float32", "float16", "bfloat16")
WITH_FLOAT8 = (*WITHOUT_FLOAT8, "float8")
DATATYPES = {
    "a100_80g": ("float16",),
    "h100_80g_nvl8": ("float16", "float8"),
    **dict.fromkeys(("a100_80g_sxm", "a100_80g_pcie", "a40_48g"), WITHOUT_FLOAT8),
    **dict.fromkeys(("h100_80g_sxm", "h200_141g_sxm", "b200", "l40s_48g", "mi300x_192g"), WITH_FLOAT8),
}


def test_exactly_the_expected_systems_ship() -> None:
    assert set(system_names()) == {*REFERENCE, *DATASHEETS}


@pytest.mark.parametrize("name", system_names())
def test_a_system_is_named_as_its_file(name: str) -> None:
    assert load_system(name).name == name


@pytest.mark.parametrize("name", system_names())
def test_every_figure_of_a_system_has_a_source(name: str) -> None:
    system = load_system(name)
    assert [path for path, _ in system.figures() if not system.source_of(path)] == []


@pytest.mark.parametrize("name", system_names())
def test_every_source_is_that_of_a_figure(name: str) -> None:
    system = load_system(name)
    paths = [path for path, _ in system.figures()]
    stray = [key for key in system.sources if not any(f"{path}.".startswith(f"{key}.") for path in paths)]
    assert stray == []


@pytest.mark.parametrize("name", system_names())
def test_a_system_file_names_no_address(name: str) -> None:
    assert "://" not in (profiles_folder() / "systems" / f"{name}.toml").read_text(encoding="utf-8")


@pytest.mark.parametrize("name", system_names())
def test_a_system_runs_the_datatypes_it_has_figures_for(name: str) -> None:
    assert load_system(name).datatypes == DATATYPES[name]


@pytest.mark.parametrize("name", REFERENCE)
def test_a_reference_preset_holds_the_published_figures_and_no_others(name: str) -> None:
    system, table = load_system(name), REFERENCE_TABLES[name]
    assert (system.kind, system.processing_mode) == ("reference", "no_overlap")
    assert system.compute_units is None
    assert system.l2_cache_mib is None
    for engine, peaks in ((system.matrix, table["matrix"]), (system.vector, table["vector"])):
        assert {name: engine.peak_flops(name) / 1e12 for name in engine.datatypes} == peaks
    memory = system.memory
    assert (memory.capacity_gib, memory.bandwidth_gb_per_s, memory.usable_fraction) == table["memory"]
    tiers = [
        (
            tier.bandwidth_gb_per_s,
            tier.efficiency_fraction,
            tier.max_ranks,
            tier.latency_us,
            {kind: (cost.message_multiple, cost.rank_coefficient) for kind, cost in tier.collectives.items()},
        )
        for tier in system.network
    ]
    assert tiers == table["network"]


@pytest.mark.parametrize("name", REFERENCE)
def test_the_reference_presets_share_their_curves(name: str) -> None:
    system = load_system(name)
    assert system.matrix.efficiency is not None
    assert system.vector.efficiency is not None
    assert system.memory.efficiency is not None
    assert [(step.at_least_gflop, step.fraction) for step in system.matrix.efficiency] == MATRIX_CURVE
    assert [(step.at_least_gflop, step.fraction) for step in system.vector.efficiency] == VECTOR_CURVE
    assert [(step.at_least_mb, step.fraction) for step in system.memory.efficiency] == MEMORY_CURVE
    assert system.missing_efficiency == ()


@pytest.mark.parametrize("name", DATASHEETS)
def test_a_datasheet_system_has_the_vendors_figures(name: str) -> None:
    system = load_system(name)
    assert (system.kind, system.processing_mode) == ("datasheet", "roofline")
    assert (
        system.compute_units,
        system.l2_cache_mib,
        system.matrix.float16_tflop_per_s,
        system.vector.float16_tflop_per_s,
        system.memory.capacity_gib,
        system.memory.bandwidth_gb_per_s,
        [(tier.bandwidth_gb_per_s, tier.max_ranks) for tier in system.network],
    ) == DATASHEET_TABLE[name]


@pytest.mark.parametrize("name", DATASHEETS)
def test_a_datasheet_system_invents_no_efficiency(name: str) -> None:
    system = load_system(name)
    tiers = [f"network.{index}.efficiency_fraction" for index in range(len(system.network))]
    expected = ("matrix.efficiency", "vector.efficiency", "memory.efficiency", *tiers)
    assert system.missing_efficiency == expected


@pytest.mark.parametrize("name", DATASHEETS)
def test_a_datasheet_system_leaves_a_tenth_of_its_memory_free(name: str) -> None:
    memory = load_system(name).memory
    assert memory.usable_fraction == 0.9
    assert memory.usable_bytes == memory.capacity_bytes * 9 // 10


@pytest.mark.parametrize("name", DATASHEETS)
def test_a_datasheet_system_computes_float8_in_vectors_at_the_float16_rate(name: str) -> None:
    vector = load_system(name).vector
    assert vector.float8_tflop_per_s in (None, vector.float16_tflop_per_s)


@pytest.mark.parametrize("name", system_names())
def test_tier_0_reaches_the_box_and_the_last_tier_is_wider_and_slower(name: str) -> None:
    box, *within, between = load_system(name).network
    assert box.max_ranks == 8
    assert between.max_ranks > box.max_ranks
    assert between.bandwidth_gb_per_s < box.bandwidth_gb_per_s
    assert all(tier.max_ranks < box.max_ranks and tier.bandwidth_gb_per_s > box.bandwidth_gb_per_s for tier in within)


@pytest.mark.parametrize(
    ("name", "datatype", "message"),
    [
        (
            "a100_80g",
            "float8",
            "a100_80g.matrix.float8_tflop_per_s is not in this profile, so float8 can't be costed on it. "
            "It has float16.",
        ),
        (
            "a100_80g_sxm",
            "float8",
            "a100_80g_sxm.matrix.float8_tflop_per_s is not in this profile, so float8 can't be costed on it. "
            "It has float32, float16, bfloat16.",
        ),
        (
            "h100_80g_nvl8",
            "bfloat16",
            "h100_80g_nvl8.matrix.bfloat16_tflop_per_s is not in this profile, "
            "so bfloat16 can't be costed on it. It has float16, float8.",
        ),
        (
            "h100_80g_nvl8",
            "float32",
            "h100_80g_nvl8.matrix.float32_tflop_per_s is not in this profile, "
            "so float32 can't be costed on it. It has float16, float8.",
        ),
        (
            "h100_80g_nvl8",
            "int4",
            "h100_80g_nvl8.matrix.int4_tflop_per_s is not in this profile, so int4 can't be costed on it. "
            "It has float16, float8.",
        ),
    ],
)  # fmt: skip
def test_a_datatype_without_a_peak_is_refused(name: str, datatype: str, message: str) -> None:
    with pytest.raises(UnsupportedError) as caught:
        load_system(name).require_datatype(datatype)
    assert str(caught.value) == message


def test_a_datatype_needs_the_peak_of_both_engines() -> None:
    system = load_system("a100_80g").with_overrides({"matrix.float8_tflop_per_s": 624})
    assert system.datatypes == ("float16",)
    with pytest.raises(UnsupportedError, match=r"\.vector\.float8_tflop_per_s is not in this profile"):
        system.require_datatype("float8")


@pytest.mark.parametrize("name", system_names())
def test_a_system_accepts_exactly_the_datatypes_it_lists(name: str) -> None:
    def accepts(datatype: str) -> bool:
        try:
            load_system(name).require_datatype(datatype)
        except UnsupportedError:
            return False
        return True

    assert tuple(filter(accepts, WITH_FLOAT8)) == DATATYPES[name]


@pytest.mark.parametrize("index", [-1, 2])
def test_a_tier_that_is_not_there_is_refused(index: int) -> None:
    with pytest.raises(InvalidInputError) as caught:
        load_system("a100_80g").tier(index, "tensor_parallel_network")
    assert str(caught.value) == (
        f"tensor_parallel_network must be a network tier of a100_80g. Got {index}. "
        "It has 0 (in the box), 1 (between boxes)."
    )


def test_a_system_can_be_written_out_and_read_again() -> None:
    for name in system_names():
        system = load_system(name)
        assert SystemProfile(**system.model_dump()) == system
