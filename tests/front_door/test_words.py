"""Many things in a sentence."""

from __future__ import annotations

from blueprint_nb.words import counted, few


def test_one_thing_is_one_and_others_are_many() -> None:
    assert [counted(count, "wave") for count in (0, 1, 2, 4096)] == ["0 waves", "1 wave", "2 waves", "4,096 waves"]


def test_a_few_names_are_all_named_and_of_many_the_rest_is_counted() -> None:
    names = ("rope", "add", "gemm")
    assert few(names, 3) == "rope, add, gemm"
    assert few(names, 2) == "rope, add and 1 more"
    assert few(names, 2, "; ") == "rope; add and 1 more"
    assert few(["step"] * 1002, 1) == "step and 1,001 more"
    assert few((), 2) == ""
