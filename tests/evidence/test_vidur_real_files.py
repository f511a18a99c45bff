"""Vidur's own files, where they are at hand: the reader against independent queries in polars."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import polars as pl
import pytest

from blueprint_nb.evidence.vidur import KINDS, OPERATORS, read_profile
from blueprint_nb.evidence.vidur.columns import PHASE_OF

PATTERNS = {
    "compute": "compute/**/mlp.csv",
    "attention": "attention/**/attention.csv",
    "all_reduce": "network/**/all_reduce.csv",
    "send_recv": "network/**/send_recv.csv",
}


def published(vidur_data: Path, kind: str) -> list[Path]:
    """The files of one kind that are there; without pointers to files that are not."""
    paths = sorted((vidur_data / "profiling").glob(PATTERNS[kind]))
    if found := [path for path in paths if not path.read_bytes().startswith(b"version https://git-lfs")]:
        return found
    pytest.skip(f"No file of {vidur_data}/profiling matches {PATTERNS[kind]}.")


@pytest.mark.parametrize("kind", sorted(KINDS))
def test_every_published_file_is_read_as_polars_reads_it(vidur_data: Path, kind: str) -> None:
    for path in published(vidur_data, kind):
        table = read_profile(path, kind)
        frame = pl.read_csv(path, infer_schema_length=None)
        assert table.columns == tuple(frame.columns)
        assert len(table) == len(frame)
        assert table.lines.tolist() == list(range(2, len(frame) + 2))
        assert list(table.keys) == [key.name for key in KINDS[kind].keys if key.name in frame.columns]
        for name, values in table.keys.items():
            if name != "attention_backend":
                assert values.sum() == frame[name].sum()


@pytest.mark.parametrize("operator", sorted(OPERATORS))
def test_every_published_time_is_read_as_polars_reads_it(vidur_data: Path, operator: str) -> None:
    name = f"time_stats.{operator}.median"
    for path in published(vidur_data, OPERATORS[operator]):
        table = read_profile(path, OPERATORS[operator])
        frame = pl.read_csv(path, infer_schema_length=None).with_row_index("row")
        if name not in frame.columns:
            continue
        if operator in PHASE_OF:
            frame = frame.filter(pl.col("is_prefill") == PHASE_OF[operator])
        column = frame.filter(~pl.col("row").is_in(list(table.faults[operator])))[name]
        values = table.milliseconds[operator]
        assert np.isfinite(values).sum() == len(column) - column.null_count()
        assert np.nansum(values) == pytest.approx(column.sum(), rel=1e-12)


def test_published_times_are_the_nearest_floats(vidur_data: Path) -> None:
    for path in published(vidur_data, "compute"):
        header, *lines = path.read_text().splitlines()
        place = header.split(",").index("time_stats.mlp_up_proj.median")
        expected = [float(line.split(",")[place]) for line in lines]
        assert read_profile(path, "compute").milliseconds["mlp_up_proj"].tolist() == expected


def test_a_published_file_cut_anywhere_in_a_line_is_refused(vidur_data: Path, tmp_path: Path) -> None:
    whole = published(vidur_data, "all_reduce")[0].read_bytes()
    start = whole.index(b"\n", len(whole) // 2) + 1
    end = whole.index(b"\n", start)
    cut = tmp_path / "cut.csv"
    for length in range(start + 1, start + whole[start:end].rindex(b",")):
        cut.write_bytes(whole[:length])
        with pytest.raises(ValueError, match=r"It is the last line, so the file looks cut off\."):
            read_profile(cut, "all_reduce")
