"""Values that nobody means, which must still get one clear answer."""

from __future__ import annotations

import os
import sys
from pathlib import Path

import numpy as np
import pytest

import blueprint_nb as bp
from blueprint_nb.analysis import mapping_table
from blueprint_nb.errors import InvalidInputError, ProfileError, shown


class Evil:
    """Raises wherever it is looked at."""

    def __repr__(self) -> str:
        raise RuntimeError("no repr")

    def __index__(self) -> int:
        raise RuntimeError("no index")

    def __float__(self) -> float:
        raise RuntimeError("no float")


def deep(levels: int) -> list[object]:
    nested: list[object] = []
    for _ in range(levels):
        nested = [nested]
    return nested


ODD = [10**5000, Evil(), deep(100_000), "\udc80", [10] * 10**6, np.array([5], dtype="m8[s]"), memoryview(b"12"), b"7"]


@pytest.mark.parametrize("value", ODD, ids=[type(value).__name__ for value in ODD])
@pytest.mark.parametrize("field", ["batch_size", "prompt_tokens", "tensor_parallel", "datatype", "mode", "attention"])
def test_an_estimate_answers_any_value_with_its_own_error(field: str, value: object) -> None:
    with pytest.raises(InvalidInputError, match=field) as caught:
        bp.estimate("phi-2", "a100_80g", **{field: value})
    assert len(str(caught.value)) < 500
    str(caught.value).encode()


@pytest.mark.parametrize("value", ODD[:4] + ODD[5:], ids=[type(value).__name__ for value in ODD[:4] + ODD[5:]])
def test_an_axis_answers_any_value_with_its_own_error(value: object) -> None:
    for given in (value, [1, value]):
        with pytest.raises(InvalidInputError, match="batch_size"):
            bp.sweep("phi-2", "a100_80g", batch_size=given)


def test_an_iterator_that_fails_half_way_is_named() -> None:
    def numbers() -> object:
        yield 1
        raise RuntimeError("lost")

    with pytest.raises(InvalidInputError, match=r"^context_tokens can't be read: RuntimeError\('lost'\)\."):
        bp.sweep("phi-2", "a100_80g", context_tokens=numbers())


def test_a_long_value_is_cut_before_it_is_written_out() -> None:
    assert len(shown([10] * 10**7)) <= 120
    assert shown(Evil()).startswith("<Evil instance at")


@pytest.mark.parametrize("value", [5, "x", [1], np.arange(3), 0, ""])
def test_overrides_have_to_map_paths_to_values(value: object) -> None:
    with pytest.raises(InvalidInputError, match=r"^overrides must map dotted paths to values\."):
        bp.load_system("a100_80g").with_overrides(value)


def test_a_table_needs_text_as_keys() -> None:
    with pytest.raises(InvalidInputError, match="must have text as keys"):
        bp.load_system("a100_80g").with_overrides({"memory": {1: 2}})


def test_a_generator_is_no_figure() -> None:
    with pytest.raises(InvalidInputError, match=r"memory\.bandwidth_gb_per_s"):
        bp.load_system("a100_80g").with_overrides({"memory.bandwidth_gb_per_s": (one for one in [1])})


@pytest.mark.parametrize(
    ("path", "value"),
    [
        ("memory.efficiency.3.fraction", 5e-324),
        ("memory.usable_fraction", 1e-300),
        ("network.0.collectives.all_reduce.message_multiple", 1e-300),
    ],
)
def test_a_fraction_next_to_nothing_is_implausible(path: str, value: float) -> None:
    with pytest.raises(InvalidInputError, match=f"^{path} must be at least"):
        bp.load_system("a100_80g").with_overrides({path: value})


def test_no_zero_is_negative() -> None:
    system = bp.load_system("a100_80g")
    changed = [system.with_overrides({"network.0.latency_us": zero}) for zero in (0.0, -0.0)]
    assert changed[0].revision == changed[1].revision
    assert changed[0].name == changed[1].name


def test_what_one_caller_does_to_a_profile_does_not_reach_the_next() -> None:
    bp.load_system("h100_80g_nvl8").network[0].collectives.clear()
    assert bp.estimate("phi-2", "h100_80g_nvl8", tensor_parallel=2).memory.fits


def test_a_copy_of_a_profile_has_a_revision_of_its_own() -> None:
    system = bp.load_system("a100_80g")
    before = system.revision
    copy = system.model_copy(update={"memory": system.memory.model_copy(update={"bandwidth_gb_per_s": 1.0})})
    assert copy.revision != before == system.revision


def test_a_name_must_fit_into_a_file() -> None:
    fields = bp.load_model("phi-2-dense-mha").model_dump()
    for name in ("\udc80", b"phi"):
        with pytest.raises(InvalidInputError, match=r"^name must be text"):
            bp.TransformerModelSpec(**{**fields, "name": name})


def test_estimates_and_systems_can_be_compared_and_hashed() -> None:
    one, other = (bp.estimate("phi-2", "a100_80g", generated_tokens=3) for _ in range(2))
    assert one == one
    assert one != other
    assert len({one, other}) == 2
    assert len({bp.load_system("a100_80g"), bp.load_system("a100_80g")}) == 1


def test_a_sweep_has_a_limit_of_mappings() -> None:
    with pytest.raises(InvalidInputError, match=r"must have at most 10,000 mappings\. Got 20,000 mappings\."):
        bp.sweep("phi-2", "a100_80g", tensor_parallel=range(1, 20_001))


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="this system has no named pipes")
def test_a_profile_is_a_regular_file(tmp_path: Path) -> None:
    pipe = tmp_path / "pipe.toml"
    os.mkfifo(pipe)
    for path in (pipe, Path("/dev/zero"), tmp_path):
        with pytest.raises(ProfileError, match="can't be read: it is"):
            bp.load_model(path)


def test_a_profile_has_a_limit_of_size(tmp_path: Path) -> None:
    path = tmp_path / "large.toml"
    path.write_text("#" * 2_000_000)
    with pytest.raises(ProfileError, match="not a regular file of at most 1 MB"):
        bp.load_system(path)


@pytest.mark.parametrize("text", ["[" + "a." * 3000 + "b]\nx=1", "hidden_size = 0x" + "f" * 6000])
def test_a_profile_that_is_nested_or_huge_beyond_sense_is_refused(tmp_path: Path, text: str) -> None:
    path = tmp_path / "odd.toml"
    path.write_text(text)
    with pytest.raises(InvalidInputError, match=r"odd\.toml"):
        bp.load_model(path)
    assert sys.getrecursionlimit() < 3000


def test_the_table_of_mappings_takes_a_system_whose_hops_are_not_reachable() -> None:
    system = bp.load_system("a100_80g").with_overrides({"network.0.max_ranks": 1})
    table = mapping_table(bp.estimate("phi-2", system, generated_tokens=2).inputs)
    assert table.select("tensor_parallel", "pipeline_parallel").rows() == [(1, 1)]
