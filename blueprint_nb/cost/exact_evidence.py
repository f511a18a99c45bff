"""`exact-evidence`: the time that was measured, where this very kernel was: family, every dimension, datatype.

One provider speaks for the records of one device, source, software version and kernel, so that two of them never mix
unsaid: where both have a shape, the resolver finds two equal claims. A shape's time is the median of its records. Its
band is half the spread of the repeats to either side, but no narrower than the device's noise, since two repeats may
agree by chance. It holds what a profiler saw: kernels alone, inputs perhaps in the cache. Left out: attention that
also writes the cache, which is a component of its own; the host, whose operations are no kernels.
"""

from __future__ import annotations

import hashlib
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from ..errors import InvalidInputError
from ..evidence import SOURCE_KEY
from ..evidence.vidur import APPENDS
from ..mapping import NetworkTierBinding
from ..system import SystemProfile
from .activity import Activity, ComponentActivity
from .bands import Band
from .block import ComponentCost, CostBlock
from .claims import block_of_claims, merged
from .kernels import DIMENSIONS, Kernel, kernels_of
from .noise import NoiseFloors
from .origin import Origin
from .provider import Claim, CostProvider
from .shape_table import ShapeTable
from .stated import cost_at_peak, covered, is_silent, known_places, stated_cost

if TYPE_CHECKING:
    import polars as pl

_KEY: Final = (*SOURCE_KEY, "kernel", "target")
_MOST_RECORDS: Final = 4
"""Ids that a row carries."""


class ExactEvidenceProvider(CostProvider):
    """Prices with the records of one device, source, software and kernel.

    Raises `InvalidInputError` where they are of several, or hold nothing that can price.
    """

    method = "exact-evidence"

    def __init__(self, observations: pl.DataFrame, noise: NoiseFloors) -> None:
        """From an observation table, checked, and what its devices' noise is."""
        kept = usable(observations)
        keys = kept.select(_KEY).unique().rows()
        if len(keys) != 1:
            rule = f"must be of one {', '.join(_KEY[:-1])} and {_KEY[-1]}"
            raise InvalidInputError("observations", got=f"{len(keys)} of them", rule=rule)
        source, source_revision, software, version, kernel, self.target = keys[0]
        words = f"{software} {version}".strip()
        self.name = f"exact-evidence:{words} from {source} {source_revision}" + (f", {kernel}" if kernel else "")
        self.revision = observations_digest(kept)
        self._inside, self._across = (_Records(rows, noise, self.target) for rows in (_inside(kept), _across(kept)))

    def cost(self, activity: Activity, system: SystemProfile, network: NetworkTierBinding) -> CostBlock:
        """Of a block that was measured from end to end. Raises `InvalidInputError` for any other."""
        return block_of_claims(self, activity, system, network, self._refusal)

    def _refusal(self, component: ComponentActivity) -> InvalidInputError:
        rule, next_step = f"was not measured by {self.name} at every point", "Stack another provider behind it."
        return InvalidInputError(component.component, got=component.primitive, rule=rule, next_step=next_step)

    def claims(
        self, activity: Activity, system: SystemProfile, network: NetworkTierBinding
    ) -> tuple[Claim | None, ...]:
        """A claim on each component, at the points whose shape was measured."""
        return tuple(self._claim(component, activity, system, network) for component in activity.components)

    def explanation(
        self, component: ComponentActivity, activity: Activity, system: SystemProfile, network: NetworkTierBinding
    ) -> str:
        """ "median of 2 records: mlp.csv:12, mlp.csv:90"; empty where some point was not measured."""
        claim = self._claim(component, activity, system, network)
        if claim is None or not np.all(claim.covers):
            return ""
        origin = claim.cost.origins[int(np.ravel(claim.cost.origin_index)[-1])]
        counted = "record" if origin.samples == 1 else f"median of {origin.samples:,} samples"
        return f"measured: {counted}, {', '.join(origin.records)}"

    def _claim(
        self, component: ComponentActivity, activity: Activity, system: SystemProfile, network: NetworkTierBinding
    ) -> Claim | None:
        if is_silent(component):
            return None
        records = self._across if _crosses_boxes(component, network) else self._inside
        found: Claim | None = None
        for kernel in kernels_of(component, activity.statistics):
            places = records.table.find(kernel, activity.datatype)
            covers = False if places is None else covered(kernel, places)
            if np.any(covers):
                at_peak = cost_at_peak(component, activity, system, network)
                found = merged(found, Claim(self._measured(records, kernel, places, covers, at_peak), covers))
        return found

    def _measured(
        self, records: _Records, kernel: Kernel, places: Any, covers: Any, at_peak: ComponentCost
    ) -> ComponentCost:
        places = known_places(places, covers)
        present, index = np.unique(places, return_inverse=True)
        seconds, half = records.seconds[places], records.half_widths[places]
        origins = tuple(
            Origin(self.name, self.revision, self.method, "exact shape", *records.provenance(place))
            for place in present.tolist()
        )
        band = Band(np.maximum(seconds - half, 0.0), seconds + half)
        return stated_cost(seconds, band, kernel.family, origins, index.reshape(np.shape(places)), at_peak)


def usable(observations: pl.DataFrame) -> pl.DataFrame:
    """The observations that can be a component's: of a family of `DIMENSIONS`, and of nothing else at the same time."""
    import polars as pl

    appends = pl.col("family").str.starts_with("attention_") & pl.col("kernel").str.ends_with(APPENDS)
    families = [name for name in DIMENSIONS if name != "host"]
    return observations.filter(pl.col("family").is_in(families) & ~appends)


def evidence_providers(observations: pl.DataFrame, noise: NoiseFloors) -> tuple[ExactEvidenceProvider, ...]:
    """One for each device, source, software and kernel of an observation table, by name; none where nothing prices."""
    groups = usable(observations).partition_by(_KEY, maintain_order=True)
    return tuple(sorted((ExactEvidenceProvider(group, noise) for group in groups), key=lambda one: one.name))


class _Records:
    """The distinct shapes of some observations of one device, each with the median of its records."""

    def __init__(self, observations: pl.DataFrame, noise: NoiseFloors, target: str) -> None:
        import polars as pl

        entries: list[tuple[str, str, tuple[int, ...]]] = []
        figures = []
        for family in observations["family"].unique().sort().to_list():
            keys = ["datatype", *DIMENSIONS[family]]
            rows = observations.filter(pl.col("family") == family).group_by(keys).agg(*_figures()).sort(keys)
            entries += [(family, datatype, tuple(shape)) for datatype, *shape in rows.select(keys).iter_rows()]
            figures.append(rows.with_columns(pl.lit(noise.half_width(target, family)).alias("noise")).drop(keys))
        self.table = ShapeTable.of(entries)
        whole = pl.concat(figures) if figures else None
        self.seconds = np.zeros(0) if whole is None else whole["seconds"].to_numpy()
        self.half_widths = np.zeros(0)
        if whole is not None:
            least = whole["noise"].to_numpy() * self.seconds
            self.half_widths = np.maximum(whole["spread_seconds"].fill_null(0.0).to_numpy() / 2.0, least)
        self._records = [] if whole is None else whole["record"].to_list()
        self._samples = [] if whole is None else whole["samples"].to_list()
        self._spreads = [] if whole is None else whole["spread_seconds"].to_list()

    def provenance(self, place: int) -> tuple[tuple[str, ...], int, float | None]:
        """Ids of the records, some of them where they are many; samples; spread in seconds."""
        records = self._records[place]
        more = len(records) - _MOST_RECORDS
        shown = (*records[:_MOST_RECORDS], f"{more:,} more") if more > 0 else tuple(records)
        return shown, self._samples[place], self._spreads[place]


def _figures() -> tuple[pl.Expr, ...]:
    """Of the records of one shape."""
    import polars as pl

    seconds = pl.col("seconds")
    apart = pl.when(pl.len() > 1).then(seconds.max() - seconds.min())
    return (
        seconds.median(),
        pl.col("samples").sum(),
        pl.max_horizontal(apart, pl.col("spread_seconds").median()).alias("spread_seconds"),
        pl.col("record").unique().sort(),
    )


def _inside(observations: pl.DataFrame) -> pl.DataFrame:
    """Without collectives between boxes."""
    import polars as pl

    alone = pl.col("ranks").is_null() | pl.col("devices_per_node").is_null()
    return observations.filter(alone | (pl.col("devices_per_node") == pl.col("ranks")))


def _across(observations: pl.DataFrame) -> pl.DataFrame:
    """Collectives of ranks each of which is alone in its box."""
    import polars as pl

    return observations.filter((pl.col("devices_per_node") == 1) & (pl.col("ranks") > 1))


def _crosses_boxes(component: ComponentActivity, network: NetworkTierBinding) -> bool:
    """Whether a tier beyond the one in the box carries a collective."""
    if component.collective is None:
        return False
    if component.collective == "point_to_point":
        return network.pipeline_parallel_network > 0
    return network.tensor_parallel_network > 0


def observations_digest(observations: pl.DataFrame) -> str:
    """SHA-256 over device, file, record, component and seconds of every row, whatever their order."""
    texts = ["target", "file_sha256", "record", "component"]
    rows = observations.select(*texts, "seconds").sort(*texts, "seconds")
    found = hashlib.sha256()
    for name in texts:
        found.update("\n".join(rows[name]).encode() + b"\0")
    found.update(rows["seconds"].to_numpy().astype("<f8").tobytes())
    return found.hexdigest()
