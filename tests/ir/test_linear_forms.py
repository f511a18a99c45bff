"""Integer forms: the same integers from Python ints and from arrays, and an error instead of a wrap."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from blueprint_nb.errors import InvalidInputError
from blueprint_nb.ir import LinearForm, check_int64
from blueprint_nb.workload import STATISTICS, step_statistics

numbers = st.integers(-(10**6), 10**6)
forms = st.builds(LinearForm, constant=numbers, **dict.fromkeys(STATISTICS, numbers))
steps = st.fixed_dictionaries(dict.fromkeys(STATISTICS, st.integers(0, 10**9)))


@given(forms, forms, numbers, steps)
def test_arithmetic_on_forms_is_arithmetic_on_their_values(
    left: LinearForm, right: LinearForm, number: int, step: dict[str, int]
) -> None:
    a, b = left.at(step), right.at(step)
    assert (left + right).at(step) == a + b
    assert (left - right).at(step) == a - b
    assert (left + number).at(step) == (number + left).at(step) == a + number
    assert (left - number).at(step) == a - number
    assert (number - left).at(step) == number - a
    assert (left * number).at(step) == (number * left).at(step) == a * number
    assert (-left).at(step) == -a
    assert (left * LinearForm(constant=number)).at(step) == (LinearForm(constant=number) * left).at(step) == a * number


@given(forms, st.lists(steps, min_size=1, max_size=5))
def test_a_form_on_arrays_is_the_form_on_each_element(form: LinearForm, points: list[dict[str, int]]) -> None:
    arrays = {name: np.array([point[name] for point in points], dtype=np.int64) for name in STATISTICS}
    values = np.broadcast_to(form.at(arrays), len(points))
    assert values.dtype == np.int64
    assert values.tolist() == [form.at(point) for point in points]


@given(steps)
def test_a_statistic_stands_for_itself(step: dict[str, int]) -> None:
    assert all(LinearForm.of(name).at(step) == step[name] for name in STATISTICS)


def test_a_product_of_two_statistics_is_not_linear() -> None:
    with pytest.raises(
        TypeError, match=r"^a product of two statistics is not linear: name it as a statistic of its own$"
    ):
        LinearForm.of("tokens") * LinearForm.of("context")


def test_zero_is_zero_at_every_step() -> None:
    assert LinearForm().is_zero
    assert (LinearForm.of("tokens") * 0).is_zero
    assert not LinearForm(constant=1).is_zero
    assert not LinearForm.of("tokens").is_zero
    assert LinearForm(constant=3, tokens=2).terms == (("tokens", 2),)


@given(forms, steps)
def test_what_may_pass_2_to_the_63_is_an_error_and_nothing_else_is(form: LinearForm, step: dict[str, int]) -> None:
    bound = abs(form.constant) + sum(abs(getattr(form, name)) * step[name] for name in STATISTICS)
    if bound < 2**63:
        assert check_int64(form, step, "x") == bound
        assert abs(form.at(step)) <= bound
    else:
        with pytest.raises(InvalidInputError):
            check_int64(form, step, "x")


def test_the_bound_is_exact() -> None:
    form, most = LinearForm(constant=7, tokens=8), dict.fromkeys(STATISTICS, 0)
    check_int64(form, {**most, "tokens": 2**60 - 1}, "x")
    with pytest.raises(InvalidInputError) as caught:
        check_int64(form, {**most, "tokens": 2**60}, "lm_head.operations")
    assert str(caught.value) == (
        "lm_head.operations must stay below 2^63, so that every count is exact. Got 9.223e+18. "
        "Use a smaller batch, context or model."
    )
    assert form.at({**most, "tokens": 2**60 - 1}) == 2**63 - 1


def test_statistics_of_one_step_are_the_sums_they_say() -> None:
    assert step_statistics(4, 10, 3, 16) == {
        "tokens": 12,
        "sequences": 3,
        "query_context": 120,
        "causal_query_context": 3 * (7 + 8 + 9 + 10),
        "context": 30,
        "allocated_context": 48,
    }
