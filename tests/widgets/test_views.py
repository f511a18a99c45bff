from __future__ import annotations

import pytest
from blueprint_nb_widgets.error_line import ErrorLine
from blueprint_nb_widgets.markup import table
from blueprint_nb_widgets.steady_axis import SteadyAxis
from blueprint_nb_widgets.stops import move_slider, stops_slider
from blueprint_nb_widgets.verdict_bar import verdict_html

from blueprint_nb import load_model
from blueprint_nb.analysis import Verdict

FITS = Verdict(
    fits=True,
    headline="Fits",
    memory="1 of 2 GiB",
    latency="decode",
    bound="memory",
    throughput="fast",
    basis="calibrated by vidur",
    fix="",
)


def test_the_verdict_says_the_same_in_words_sign_and_colour():
    html = verdict_html(FITS)
    assert "bp-fits" in html
    assert "✓" in html
    assert ">Fits<" in html
    assert 'role="status"' in html


def test_a_verdict_that_fits_proposes_nothing():
    assert "Smallest fix" not in verdict_html(FITS)


def test_cells_of_a_table_are_escaped():
    html = table("<b>", ("<i>",), [("<script>",)])
    assert "<script>" not in html
    assert "<b>" not in html
    assert "<i>" not in html
    assert "&lt;script&gt;" in html


def test_the_axis_stays_while_values_are_within_it():
    axis = SteadyAxis()
    assert axis.domain(5.86e-3) == (0.0, pytest.approx(8e-3))
    assert axis.domain(2.4e-3) == (0.0, pytest.approx(8e-3))
    assert axis.domain(7.5e-3) == (0.0, pytest.approx(8e-3))


def test_the_axis_follows_values_that_leave_it():
    axis = SteadyAxis()
    axis.domain(5.86e-3)
    assert axis.domain(9e-3) == (0.0, pytest.approx(15e-3))
    assert axis.domain(1e-3) == (0.0, pytest.approx(1.5e-3))


def test_a_slider_with_one_value_has_two_stops_for_the_browser_and_is_disabled():
    slider = stops_slider((1, 2), 2)
    move_slider(slider, (1,), 1)
    assert slider.options == (("1", 1), ("1", 1))
    assert slider.disabled
    move_slider(slider, (1, 2, 4), 4)
    assert slider.value == 4
    assert not slider.disabled


def test_an_error_of_the_project_is_its_own_sentence():
    errors = ErrorLine()
    with errors.catching():
        load_model("llama-3.1-8")
    assert "model must be one of" in errors.value
    assert "Did you mean llama-3.1-8b" in errors.value
    assert "report" not in errors.value


def test_an_unexpected_error_names_its_type_and_asks_for_a_report():
    errors = ErrorLine()
    with errors.catching():
        raise ZeroDivisionError("<division>")
    assert "ZeroDivisionError: &lt;division&gt;. This is a fault of blueprint-nb: please report it." in errors.value
    assert "test_views.py" in errors.value


def test_an_error_stays_until_it_is_cleared():
    errors = ErrorLine()
    with errors.catching():
        raise ValueError("first")
    with errors.catching():
        pass
    assert "first" in errors.value
    errors.clear()
    assert errors.value == ""
