"""The cost form of collectives: by hand, and what must hold whatever its parameters are."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from blueprint_nb.calibration.errors import Judged, error_figures
from blueprint_nb.calibration.fit import fit
from blueprint_nb.calibration.sample import Sample
from blueprint_nb.catalog import load_system
from blueprint_nb.cost.families import Collective, Link, link_of
from blueprint_nb.cost.octaves import octave_of
from blueprint_nb.errors import UnknownNameError
from blueprint_nb.evidence.vidur import VidurProfileImporter

from .forms import A100, never_falls, seconds, starts, values_of

MIB = 2**20
NVLINK = Link(bytes_per_second=300e9)
KINDS = ("all_reduce", "all_gather", "reduce_scatter", "point_to_point")
MESSAGES = np.unique(np.concatenate([np.geomspace(1, 4e9, 1500).astype(np.int64), 8 * MIB + np.arange(-3, 4)]))
LINES = ("low_latency", "low_latency_128", "simple", "wide")


def links() -> st.SearchStrategy[Link]:
    rates = st.floats(1e8, 1e13)
    return st.builds(Link, bytes_per_second=rates, peer_bytes_per_second=st.none() | rates)


def forms() -> st.SearchStrategy[Collective]:
    return st.builds(Collective, st.sampled_from(KINDS), links(), own_bytes=st.sampled_from([0, 8 * MIB]))


def one_line(form: Collective, latency: float, fraction: float) -> dict[str, float]:
    """Every protocol takes the same."""
    values = dict.fromkeys(starts(form), 0.0)
    return (
        values
        | {f"{line}_seconds": latency for line in LINES}
        | {f"{line}_bandwidth_fraction": fraction for line in LINES}
    )


@given(st.data(), forms(), st.integers(2, 1024))
def test_never_takes_less_time_for_a_larger_message(data: st.DataObject, form: Collective, ranks: int):
    assert never_falls(seconds(form, data.draw(values_of(form)), message_bytes=MESSAGES, ranks=ranks))


@given(st.data(), st.sampled_from(KINDS), links(), st.integers(1, 10**10))
def test_between_two_ranks_takes_no_less_than_what_crosses_at_the_bandwidth_reached(
    data: st.DataObject, kind: str, link: Link, message: int
):
    form = Collective(kind, link)
    values = data.draw(values_of(form))
    (taken,) = seconds(form, values, message_bytes=message, ranks=2)
    crossing = message * {"all_reduce": 1.0, "point_to_point": 1.0}.get(kind, 0.5)
    assert taken >= crossing / max(values[f"{line}_bandwidth_fraction"] for line in LINES) / link.to_group(2)


@pytest.mark.parametrize(
    ("kind", "crossings"),
    [("all_reduce", 1.75), ("all_gather", 0.875), ("reduce_scatter", 0.875), ("point_to_point", 1.0)],
)
def test_one_line_by_hand(kind: str, crossings: float):
    """30 MB among 8 ranks at half of 300 GB/s, after 10 µs."""
    form = Collective(kind, NVLINK)
    (taken,) = seconds(form, one_line(form, 1e-5, 0.5), message_bytes=30_000_000, ranks=8)
    assert taken == pytest.approx(1e-5 + crossings * 3e7 / 150e9)


def test_small_messages_take_the_quick_protocol_and_large_ones_the_wide_one():
    form = Collective("all_reduce", NVLINK)
    shape = {"message_bytes": np.array([1024, 10**9]), "ranks": np.array([8, 8])}
    time = form.kernel_time(form.prepare(shape), starts(form))
    assert [LINES[index] for index in time.counts["protocol"]] == ["low_latency", "wide"]
    assert time.terms["latency"] + time.terms["transfer"] == pytest.approx(time.seconds)


def test_an_engines_own_all_reduce_ends_where_the_library_takes_over():
    form = Collective("all_reduce", NVLINK, own_bytes=8 * MIB)
    values = starts(form, low_latency_bandwidth_fraction=1.2, simple_seconds=1e-4, wide_seconds=1e-4)
    shape = {"message_bytes": np.array([8 * MIB - 1, 8 * MIB]), "ranks": np.array([2, 2])}
    time = form.kernel_time(form.prepare(shape), values)
    assert [LINES[index] for index in time.counts["protocol"]] == ["low_latency", "wide"]
    assert time.seconds[1] > 2 * time.seconds[0]


def test_without_a_switch_few_ranks_have_few_links():
    link = Link(bytes_per_second=300e9, peer_bytes_per_second=100e9)
    assert link.to_group(np.array([2, 3, 4, 8])).tolist() == [100e9, 200e9, 300e9, 300e9]


def test_a_link_is_what_a_systems_tier_says():
    tier = load_system("a100_80g_sxm").network[0]
    assert link_of(tier).to_group(8) == tier.bytes_per_second(8)


def test_a_row_explains_itself():
    form = Collective("all_reduce", NVLINK)
    words = form.explain({"message_bytes": 64 * MIB, "ranks": 8}, None, starts(form))
    assert words == "64.0 MiB among 8 ranks at 300 GB/s: wide; transfer 522 µs; latency 58.0 µs"


def test_a_collective_that_nobody_knows_is_refused():
    with pytest.raises(UnknownNameError) as caught:
        Collective("broadcast", NVLINK)
    assert str(caught.value) == (
        "collective must be all_gather, all_reduce, point_to_point or reduce_scatter. Got 'broadcast'."
    )


def test_the_form_fits_what_vidur_measured(vidur_data: Path):
    """In sample, messages from 2 MiB on within one box: balanced error in percent."""
    importer = VidurProfileImporter(source_revision="7d47513363ec447a741ac5e47241580b47724fbf")
    path = vidur_data / "profiling" / "network" / "a100_dgx" / "all_reduce.csv"
    rows = importer.read(path, "all_reduce", target="a100_dgx").observations.filter(
        (pl.col("ranks") == pl.col("devices_per_node")) & (pl.col("message_bytes") >= 2 * MIB)
    )
    shape: dict[str, Any] = {name: rows[name].to_numpy() for name in ("message_bytes", "ranks")}
    sample = Sample(A100, shape, rows["seconds"].to_numpy(), shape["ranks"], octave_of(shape["message_bytes"]))
    thin = sample.thinned(300, seed=1)
    form = Collective("all_reduce", NVLINK)
    judged = Judged.of(form, [thin], fit(form, [thin], evaluations=20).values)
    assert error_figures(judged).balanced_mape_percent < 6
