"""The errors of one case as HTML: a row for each component, a bar for each error, the subtotal apart from the means."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Final

from blueprint_nb.report.error_marks import FULL_PERCENT, MIDDLE, Bar, Whisker
from blueprint_nb.report.error_rows import CaseErrors, ErrorCell, ErrorRow
from blueprint_nb.report.error_words import BAND
from blueprint_nb.report.mode_style import is_hollow, mode_colour

from .markup import escape, span

_HELD: Final = {True: "within", False: "outside"}


def errors_html(errors: CaseErrors) -> str:
    """The table of a case and what is to say about it; where no component was measured, that alone."""
    said = sentences_html("said", errors.sentences)
    if all(row.state == "not-covered" for row in errors.rows):
        return f'<div class="bp-errors-title">{escape(errors.heading)}</div>{said}'
    banded = errors.banded_mode
    rows = "".join(_row(row, banded) for row in errors.rows)
    summary = "".join(_summary(name, texts, banded) for name, texts in errors.summary)
    head = f"<caption>{_caption(errors.heading, banded)}</caption>{_head(errors.modes, banded)}"
    return (
        f'<table class="bp-table bp-errors">{head}{rows}'
        f'<tbody class="bp-subtotal"><tr>{_name(errors.subtotal)}{_numbers(errors.subtotal, banded)}</tr></tbody>'
        f'<tbody class="bp-summary">{summary}</tbody></table>{said}'
    )


def sentences_html(kind: str, sentences: Iterable[str]) -> str:
    """A paragraph for each, in a box of class `bp-kind`."""
    return f'<div class="bp-{kind}">' + "".join(f"<p>{_unbroken(sentence)}</p>" for sentence in sentences) + "</div>"


def _caption(heading: str, banded: str) -> str:
    reading = f"time of one execution · bars from −{FULL_PERCENT:.0f} % to +{FULL_PERCENT:.0f} % of measured"
    if banded:
        reading += f" · line: {BAND} of {banded}"
    return f'<div class="bp-errors-caption">{span("errors-title", heading)}{span("errors-reading", reading)}</div>'


def _head(modes: Sequence[str], banded: str) -> str:
    estimates, errors = (
        "".join(f'<th scope="col" class="bp-of-{kind}">{escape(mode)}</th>' for mode in modes)
        for kind in ("estimate", "error")
    )
    group = f'<th scope="colgroup" colspan="{len(modes)}">'
    times = '<col class="bp-col-time">' * (len(modes) + 1)
    band = f'<th scope="col" rowspan="2">{BAND.replace(" ", chr(160), 1)}</th>' if banded else ""
    last = '<col class="bp-col-band">' if banded else ""
    return (
        f'<colgroup><col class="bp-col-name">{times}<col span="{len(modes)}">{last}</colgroup>'
        f'<thead><tr><th scope="col" rowspan="2" class="bp-words">component</th>{group}estimate</th>'
        f'<th scope="col" rowspan="2">measured</th>{group}error</th>{band}</tr><tr>{estimates}{errors}</tr></thead>'
    )


def _row(row: ErrorRow, banded: str) -> str:
    """What is to know about a measurement has a line of its own below it; why there is none takes its place."""
    columns = len(row.cells) + 1
    about = f'<td class="bp-words bp-about" colspan="{columns + bool(banded)}">'
    if row.state == "not-covered":
        lines = f"<tr>{_name(row)}{_estimates(row)}{about}{_breakable(f'{row.reference}: {row.words}')}</td></tr>"
    else:
        below = f'<tr class="bp-below"><td colspan="{columns}"></td>{about}{_breakable(row.said)}</td></tr>'
        lines = f"<tr>{_name(row)}{_numbers(row, banded)}</tr>{below if row.said else ''}"
    return f'<tbody class="bp-{row.state}">{lines}</tbody>'


def _summary(name: str, texts: Sequence[str], banded: str) -> str:
    """Figures that no subtotal gives: apart, so that none is taken for its error."""
    cells = "".join(f'<td class="bp-words">{_unbroken(text)}</td>' for text in texts)
    heading = f'<th scope="row" class="bp-words" colspan="{len(texts) + 2}">{escape(name)}</th>'
    return f"<tr>{heading}{cells}{'<td></td>' if banded else ''}</tr>"


def _name(row: ErrorRow) -> str:
    return f'<th scope="row" class="bp-words">{escape(row.component)}</th>'


def _numbers(row: ErrorRow, banded: str) -> str:
    errors = "".join(f"<td>{_error(cell)}</td>" for cell in row.cells)
    band = "".join(_band(cell) for cell in row.cells if cell.mode == banded)
    return f'{_estimates(row)}<td class="bp-numeric">{escape(row.reference)}</td>{errors}{band}'


def _band(cell: ErrorCell) -> str:
    """Its ends, and whether what was measured lies between them."""
    said = "" if cell.in_band is None else span("in-band" if cell.in_band else "off-band", _HELD[cell.in_band])
    return f'<td class="bp-numeric bp-band">{escape(cell.band)}{said}</td>'


def _estimates(row: ErrorRow) -> str:
    return "".join(f'<td class="bp-numeric">{escape(cell.estimate)}</td>' for cell in row.cells)


def _error(cell: ErrorCell) -> str:
    bar = "" if cell.bar is None else _bar(cell.bar, cell.whisker, cell.mode)
    return f'<div class="bp-signed">{span("number", cell.error)}{bar}</div>'


def _bar(bar: Bar, whisker: Whisker | None, mode: str) -> str:
    """From the middle, which is no error, to the left or to the right; across it the whisker of its band."""
    kinds = [kind for kind, is_so in (("bp-hollow", is_hollow(mode)), ("bp-cut", bar.is_cut)) if is_so]
    style = f"{_reach(bar)};--bp-mode:{mode_colour(mode)}"
    line = "" if whisker is None else f'<b class="bp-whisker" style="{_reach(whisker)}"></b>'
    return f'<span class="bp-bar" aria-hidden="true"><i class="{" ".join(kinds)}" style="{style}"></i>{line}</span>'


def _reach(mark: Bar | Whisker) -> str:
    left, width = (100 * length / (2 * MIDDLE) for length in (mark.start, mark.length))
    return f"left:{left:.4g}%;width:{width:.4g}%"


def _unbroken(text: str) -> str:
    """Keeps each figure with its sign of percent."""
    return escape(text.replace(" %", "\u00a0%"))


def _breakable(text: str) -> str:
    """Long names may break after their dots and underscores."""
    return escape(text).replace("_", "_<wbr>").replace(".", ".<wbr>")
