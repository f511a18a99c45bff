from __future__ import annotations

import base64
import gzip
import json
import re
from itertools import pairwise
from urllib.parse import unquote

import error_cases
import pytest
from html_reading import Page, read

import blueprint_nb as bp
from blueprint_nb.analysis import load_slice
from blueprint_nb.cost import ANALYTICAL_MODES
from blueprint_nb.errors import OutputError
from blueprint_nb.report import render_error_page, render_report, write_error_page
from blueprint_nb.validation import pricing, run_vidur_experiment

REPORTS = {
    "golden": error_cases.golden,
    "nothing": error_cases.nothing,
    "one_mode": error_cases.one_mode,
    "odd": error_cases.odd,
    "many": error_cases.many,
    "calibrated": error_cases.calibrated,
    "many_calibrated": error_cases.many_calibrated,
}


@pytest.fixture(scope="module")
def pages() -> dict[str, str]:
    return {name: render_error_page(make()) for name, make in REPORTS.items()}


@pytest.fixture(scope="module")
def measured() -> str:
    """The report of the default request, both steps of which are measured, in the modes whose figures are pinned."""
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(pricing, "modes_of", lambda _: ANALYTICAL_MODES)
        return render_report(bp.estimate("phi-2-dense-mha", "a100_80g", prompt_tokens=128, generated_tokens=8))


def download(page: Page) -> tuple[str, object]:
    """(label, content) of the link to the errors."""
    (link,) = [e for e in page.all("a") if (e.attributes.get("download") or "").startswith("errors.json")]
    kind, data = str(link.attributes["href"]).split(",", 1)
    text = gzip.decompress(base64.b64decode(data)).decode() if "base64" in kind else unquote(data)
    return link.text, json.loads(text)


def test_a_report_says_how_wrong_it_may_be(measured):
    page = read(measured)
    assert "How wrong may this be" in [e.text for e in page.all("h2")]
    assert [row for row in page.rows("Errors of all cases")[1:] if row] == [
        ["peak-only", "35.8 %", "60.1 %", "99.9 %", "75.0 %", "2"],
        ["system-evidence", "22.2 %", "50.7 %", "99.5 %", "75.0 %", "2"],
    ]
    assert "system-evidence: subtotal −27 % hides components between −99 % and −6 %." in [
        e.text for e in page.all("li")
    ]


def test_a_table_has_both_modes_side_by_side_and_the_subtotal_below(measured):
    rows = read(measured).rows("Errors: Decode step at context 129, batch 1, TP 1")
    by_name = {row[0]: row[1:] for row in rows[2:] if row}
    assert by_name["QKV projection"] == ["19.3 µs", "26.9 µs", "30.0 µs", "−35.5 %", "−10.4 %"]
    assert by_name["KV save"] == [
        "10.0 ns",
        "33.3 ns",
        "not covered: no column: attention.csv has no time_stats.attn_kv_cache_save.median",
    ]
    assert by_name["Subtotal (compared)"] == ["78.0 µs", "109 µs", "150 µs", "−48.0 %", "−27.5 %"]
    assert by_name["Component MAPE, mean of the absolute errors"] == ["72.1\u00a0%", "60.5\u00a0%"]
    assert by_name["Not compared, of the block's estimate"] == [
        "27.7 ns of 78.1 µs, 0.0355\u00a0%",
        "93.6 ns of 109 µs, 0.0860\u00a0%",
    ]


def test_a_report_says_where_the_measurements_come_from(measured):
    facts = dict(row for row in read(measured).rows("Provenance of the measurements") if len(row) == 2)
    assert facts["Measured hardware"] == "a100"
    assert facts["Source revision"] == "8383d2935bc62723a212090baa9f98ada206fc14"
    assert facts["Licence"] == "MIT"
    assert facts["Baseline revision"] == load_slice().revision
    assert "blob 56c1d8c06ce1f08336fe4e82f445ec1249f5ca71" in facts["File attention"]
    flags = ("oracle_read_during_lowering", "oracle_read_during_costing", "fit_against_case_outputs")
    assert [facts[flag] for flag in flags] == ["false", "false", "false"]


def test_the_limits_say_what_was_tested(measured, html_of):
    assert "how far off it is was tested for single components only." in measured
    assert "how far off it is was not tested for this request." in html_of("default")


def test_a_report_that_nothing_was_measured_for_says_so_in_one_paragraph(html_of):
    html = html_of("default")
    section = html[html.index('<section aria-labelledby="errors">') :]
    section = section[: section.index("</section>")]
    (paragraph,) = re.findall("<p>(.*?)</p>", section)
    assert paragraph.startswith(
        "No measured profile of llama-3.1-8b on h100_80g_nvl8 is at hand: nothing of this estimate was compared. "
        "The profile at hand is of microsoft/phi-2 on a100;"
    )
    assert "<table" not in section


def test_a_report_takes_another_baseline(tmp_path):
    estimate = bp.estimate("phi-2-dense-mha", "a100_80g", prompt_tokens=128, generated_tokens=1)
    page = read(estimate.report(tmp_path / "report.html", error_cases.altered({"mlp_up_proj": 0.018})).read_text())
    rows = {row[0]: row for row in page.rows("Errors: Prefill of 128 tokens, batch 1, TP 1") if row}
    assert rows["MLP up"][5:7] == ["+171 %", "+301 %"]
    facts = dict(row for row in page.rows("Provenance of the measurements") if len(row) == 2)
    assert facts["Licence"] == "not said by the files; Vidur's own profiles are under MIT"


def test_a_long_report_of_measured_steps_stays_under_one_and_a_half_megabytes():
    estimate = bp.estimate("phi-2-dense-mha", "a100_80g", prompt_tokens=64, generated_tokens=4_000)
    html = render_report(estimate, error_cases.lengths(list(range(64, 4_000, 16))))
    assert "2 of 65 cases have a table here and 32 are listed below" in html
    assert len(html.encode()) < 1_500_000


def test_bars_are_drawn_without_scripts_and_cut_where_they_pass_the_axis(pages):
    html = pages["odd"]
    assert html.count('class="cut"') == 2
    assert '<rect x="100.0" y="5" width="100.0" height="14"/>' in html
    assert '<svg class="bar hollow"' in html


def test_a_table_of_three_modes_has_the_band_and_whether_the_measurement_lies_in_it(pages):
    rows = read(pages["calibrated"]).rows("Errors: decode b1 c33: Decode step at context 33, batch 1, TP 1")
    head, *body = (row for row in rows if row)
    assert head[-1] == "90\u00a0% band"
    by_name = {row[0]: row[1:] for row in body}
    held = {name: row[-1] for name, row in by_name.items() if len(row) == 8}
    assert {"Input norm", "MLP down", "Subtotal (compared)"} <= held.keys()
    assert all(cell.endswith(("within", "outside")) and "–" in cell for cell in held.values())
    counted = sum(cell.endswith("within") for name, cell in held.items() if not name.startswith("Subtotal"))
    assert by_name["Measured within the 90 % band"][:3] == [
        "–",
        "–",
        f"{counted} of 9, {round(100 * counted / 9)}\u00a0%",
    ]
    assert pages["calibrated"].count('class="whisker"') == 3 * 10


def test_a_page_says_what_the_parameters_were_fitted_to(pages):
    claims = [e.text for e in read(pages["calibrated"]).all("li") if e.text.startswith("Calibrated by ")]
    assert len(claims) == 1
    assert claims[0].startswith("Calibrated by vidur (")
    assert "microsoft/phi-2, measured here," in claims[0]


def test_without_bands_no_page_speaks_of_them(pages):
    assert not any("band" in row[-1] for row in read(pages["golden"]).rows("Errors of all cases") if row)
    assert 'class="whisker"' not in pages["golden"]
    assert 'class="number band"' not in pages["golden"]


def test_a_flagged_row_says_that_it_does_not_count(pages):
    assert "flagged, not counted: ruled out by physics: 9.00 ms for" in pages["odd"]


def test_a_page_names_its_models_and_counts_its_cases(pages):
    page = read(pages["golden"])
    assert page.all("h1")[0].text == "phi-2-dense-mha on a100_80g against measured kernels"
    assert page.all("title")[0].text.startswith("phi-2-dense-mha on a100_80g")
    assert "3 cases, estimated by blueprint-nb" in pages["golden"]
    assert "1 case, estimated" in pages["odd"]


def test_a_page_of_few_cases_has_a_table_for_each(pages):
    labels = [e.attributes["aria-label"] for e in read(pages["golden"]).all("div", role="region")]
    assert [label for label in labels if str(label).startswith("Errors: ")] == [
        "Errors: decode b1 c33: Decode step at context 33, batch 1, TP 1",
        "Errors: decode b1 c129: Decode step at context 129, batch 1, TP 1",
        "Errors: prefill b1 128: Prefill of 128 tokens, batch 1, TP 1",
    ]
    assert "have a table here" not in pages["golden"]


def test_a_page_of_many_cases_says_what_it_leaves_out(pages):
    page = read(pages["many"])
    assert "4 of 80 cases have a table here and all are listed below, evenly chosen by their place" in pages["many"]
    assert len([row for row in page.rows("Cases") if row]) == 80 + 2
    label, content = download(page)
    assert label == "Errors as JSON, packed"
    assert len(content["cases"]) == 160


def test_a_page_with_one_mode_has_one_column_of_errors(pages):
    rows = read(pages["one_mode"]).rows("Errors: Decode step at context 129, batch 1, TP 1")
    assert next(row for row in rows if row and row[0] == "RoPE") == ["RoPE", "29.4 ns", "4.00 µs", "−99.3 %"]


def test_a_page_of_nothing_still_says_what_was_at_hand(pages):
    page = read(pages["nothing"])
    assert "No measured profile of llama-2-7b on a100_80g is at hand" in pages["nothing"]
    assert page.all("noscript") == []
    facts = dict(row for row in page.rows("Provenance of the measurements") if len(row) == 2)
    assert facts["Measured model"] == "microsoft/phi-2"


def test_a_download_is_the_experiments_json(pages):
    _, content = download(read(pages["golden"]))
    assert content == json.loads(error_cases.golden().to_json())


def test_names_are_text_everywhere(pages):
    page = read(pages["odd"])
    assert "<b onclick" not in pages["odd"]
    assert not page.all("b")
    assert f"{error_cases.MARKUP}: Prefill of 128 tokens, batch 1, TP 1" in [e.text for e in page.all("h3")]


def test_what_could_turn_the_order_of_signs_around_is_shown_as_an_escape(tmp_path):
    shipped = error_cases.phi_2("x", "decode", 129)
    model = shipped.model.model_copy(update={"name": error_cases.COMMANDING})
    case = shipped.model_copy(update={"name": error_cases.COMMANDING, "model": model})
    html = render_error_page(run_vidur_experiment([case], error_cases.altered({}, model_name=error_cases.COMMANDING)))
    assert read(html).all("title")[0].text.startswith(r"a\x1b[2J\x00\u202eb on a100_80g")
    assert all(line.isprintable() for line in html.split("\n"))


@pytest.mark.parametrize("name", REPORTS)
def test_a_page_is_whole_small_and_asks_no_host(pages, name):
    page = read(pages[name])
    assert len(pages[name].encode()) < 1_500_000
    for element in page.elements:
        for attribute in ("src", "href", "action", "data", "poster", "srcset"):
            target = element.attributes.get(attribute) or ""
            assert not target or target.startswith(("#", "data:"))
    ids = [e.attributes["id"] for e in page.elements if e.attributes.get("id")]
    assert len(ids) == len(set(ids))
    levels = [int(e.tag[1]) for e in page.elements if re.fullmatch("h[1-6]", e.tag)]
    assert levels[0] == 1
    assert all(after - before <= 1 for before, after in pairwise(levels))


@pytest.mark.parametrize("name", ["golden", "many"])
def test_equal_experiments_give_equal_pages(pages, name):
    assert render_error_page(REPORTS[name]()) == pages[name]


def test_a_page_is_written_whole_or_not_at_all(tmp_path, pages):
    path = write_error_page(error_cases.golden(), tmp_path / "errors.html")
    assert path.read_text(encoding="utf-8") == pages["golden"]
    with pytest.raises(OutputError, match="it is a folder"):
        write_error_page(error_cases.golden(), tmp_path)
