"""`learned-residual`: the calibrated form's time, corrected by what was measured of shapes near the one that is asked.

To be stacked before the calibrated provider whose set it corrects. It learns when it is first asked, from an
observation table of the device; nothing of it stands in a file. It claims what its layer changes (see
`residual_layer`): shapes with a coverage, and larger ones, of coverage 0, until the form's time is no less than that of
the last shape with one. It never says less than the peaks allow, and each row says its coverage. The band is the set's
about the new time: its factors come from residuals without a layer, so it is rather too wide.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from .._canonical import digest
from ..errors import InvalidInputError, UnsupportedError
from ..evidence import ELEMENT_BYTES, SOURCE_KEY
from ..mapping import NetworkTierBinding
from ..system import SystemProfile
from ..words import few
from ..workload import element_bytes
from .activity import Activity, ComponentActivity
from .bands import Band
from .block import ComponentCost, CostBlock
from .calibrated import CalibratedProvider
from .calibration import CalibrationSet
from .claims import block_of_claims
from .exact_evidence import observations_digest
from .kernels import DIMENSIONS, Kernel, kernels_of
from .origin import Origin
from .provider import Claim, CostProvider
from .residual_layer import BANDWIDTHS, SHRINKAGE, Corrected, ResidualLayer

if TYPE_CHECKING:
    import polars as pl

LEARNED_RESIDUAL: Final = "learned-residual"

TERM: Final = "learned_residual"
"""Of a cost: what the layer adds to the form's seconds, or takes off."""

_KEY: Final = (*SOURCE_KEY, "target")
_OF_SET: Final = ("target", "source", "software", "software_version")
"""Names that observations and sets share."""

_MOST_NAMED: Final = 4


class LearnedResidualProvider(CostProvider):
    """Corrects one calibration set by observations of the device, source and software that it was fitted to.

    Raises `InvalidInputError` where none is, or they are of several.
    """

    method = LEARNED_RESIDUAL

    def __init__(self, observations: pl.DataFrame, calibrated: CalibratedProvider) -> None:
        """From an observation table, checked."""
        self._calibrated = calibrated
        self._observations = _own(observations, calibrated.calibration)
        self.name = f"{LEARNED_RESIDUAL}:{calibrated.calibration.name}"
        self.revision = digest(
            {
                "observations": observations_digest(self._observations),
                "calibration": calibrated.calibration.revision,
                "bandwidths": BANDWIDTHS,
                "shrinkage": SHRINKAGE,
            }
        )
        self._layers: dict[tuple[str, str, str], ResidualLayer | None] = {}

    def __getstate__(self) -> dict[str, Any]:
        """Without what was learned, which is learned anew."""
        return {**self.__dict__, "_layers": {}}

    def cost(self, activity: Activity, system: SystemProfile, network: NetworkTierBinding) -> CostBlock:
        """Of a block that it covers from end to end. Raises `UnsupportedError` for any other."""
        return block_of_claims(self, activity, system, network, self._refusal)

    def _refusal(self, component: ComponentActivity) -> UnsupportedError:
        rule, next_step = f"is not covered by {self.name}", "Stack the calibration that it corrects behind it."
        return UnsupportedError(component.component, got=component.primitive, rule=rule, next_step=next_step)

    def claims(
        self, activity: Activity, system: SystemProfile, network: NetworkTierBinding
    ) -> tuple[Claim | None, ...]:
        """A claim on each component of a learned family, at the points that the layer changes. Raises as those of the
        calibrated provider.
        """
        return tuple(self._claim(component, activity, system) for component in activity.components)

    def explanation(
        self, component: ComponentActivity, activity: Activity, system: SystemProfile, network: NetworkTierBinding
    ) -> str:
        """That of the calibrated form, then "learned residual +4.1 %, coverage 0.62"; empty where it claims nothing."""
        found = self._corrected(component, activity, system)
        if found is None or not np.ravel(found[2].is_corrected)[-1]:
            return ""
        _, form, corrected = found
        seconds, coverage = (float(np.ravel(one)[-1]) for one in (corrected.seconds, corrected.coverage))
        # Adding nothing makes a negative zero a plain one.
        percent = round(100.0 * (seconds / float(np.ravel(form.seconds)[-1]) - 1.0), 1) + 0.0
        own = self._calibrated.explanation(component, activity, system, network)
        return "; ".join(
            filter(None, [own, f"learned residual {percent:+.1f} %".replace("-", "−") + f", {_in_words(coverage)}"])
        )

    def _claim(self, component: ComponentActivity, activity: Activity, system: SystemProfile) -> Claim | None:
        found = self._corrected(component, activity, system)
        if found is None or not np.any(found[2].is_corrected):
            return None
        layer, form, corrected = found
        origins, origin_index = self._origins(layer.samples, form, corrected.coverage)
        ratio = corrected.seconds / form.seconds
        cost = replace(
            form,
            seconds=corrected.seconds,
            terms={**form.terms, TERM: corrected.seconds - form.seconds},
            band=None if form.band is None else Band(form.band.low_seconds * ratio, form.band.high_seconds * ratio),
            origins=origins,
            origin_index=origin_index,
        )
        return Claim(cost, corrected.is_corrected)

    def _corrected(
        self, component: ComponentActivity, activity: Activity, system: SystemProfile
    ) -> tuple[ResidualLayer, ComponentCost, Corrected] | None:
        """The layer, what the form says and what the layer makes of that; None where nothing is learned."""
        for kernel in kernels_of(component, activity.statistics):
            if kernel.family not in BANDWIDTHS:
                continue
            layer = self._layer(kernel.family, activity.datatype, system)
            form = self._calibrated.kernel_cost(kernel, activity.datatype, system)
            if layer is not None and form is not None:
                corrected = layer.corrected(kernel.shape, form.seconds)
                peak = self._calibrated.peak_seconds(kernel, activity.datatype, system)
                seconds = corrected.seconds if peak is None else np.maximum(corrected.seconds, peak)
                return layer, form, replace(corrected, seconds=seconds)
        return None

    def _layer(self, family: str, datatype: str, system: SystemProfile) -> ResidualLayer | None:
        """None where the set lacks the family, or nobody measured elements as long."""
        key = (family, datatype, system.revision)
        if key not in self._layers:
            self._layers[key] = self._learned(family, datatype, system)
        return self._layers[key]

    def _learned(self, family: str, datatype: str, system: SystemProfile) -> ResidualLayer | None:
        import polars as pl

        as_long = [name for name, count in ELEMENT_BYTES.items() if count == element_bytes(datatype)]
        rows = self._observations.filter(pl.col("family") == family, pl.col("datatype").is_in(as_long))
        shape = {name: rows[name].to_numpy() for name in DIMENSIONS[family]}

        def seconds_of(asked: Any) -> Any:
            cost = self._calibrated.kernel_cost(Kernel(family, asked), datatype, system)
            return None if cost is None else cost.seconds

        if not len(rows) or seconds_of(shape) is None:
            return None
        return ResidualLayer(family, shape, rows["seconds"].to_numpy(), seconds_of)

    def _origins(self, samples: int, form: ComponentCost, coverage: Any) -> tuple[tuple[Origin, ...], Any]:
        """One for each percent of coverage and each match of the form; and which, at each point."""
        percents = np.where(coverage > 0.0, np.maximum(np.rint(100.0 * coverage), 1.0), 0.0).astype(np.int64)
        codes = percents * len(form.origins) + form.origin_index
        present, index = np.unique(codes, return_inverse=True)
        origins = tuple(
            Origin(self.name, self.revision, self.method, f"{_in_words(percent / 100.0)}, {own.match}", samples=samples)
            for percent, place in (divmod(code, len(form.origins)) for code in present.tolist())
            for own in [form.origins[place]]
        )
        return origins, index.reshape(codes.shape)


def _in_words(coverage: float) -> str:
    return f"coverage {coverage:.2f}" if coverage else "no coverage, held at the time of a smaller size"


def _own(observations: pl.DataFrame, calibration: CalibrationSet) -> pl.DataFrame:
    """Those of learned families and of the set's source, device and software; all where it is of no device.

    Raises `InvalidInputError` where that leaves none, or several sources.
    """
    import polars as pl

    of_set = {name: getattr(calibration, name) for name in _OF_SET}
    learned = observations.filter(pl.col("family").is_in(list(BANDWIDTHS)))
    own = learned.filter(pl.col(name) == value for name, value in of_set.items()) if calibration.target else learned
    if own.select(_KEY).n_unique() == 1:
        return own
    held = own if len(own) else learned
    keys = [_in_short(**key) for key in held.select(_KEY).unique().sort(_KEY).to_dicts()]
    whose = f", {_in_short(**of_set)}, which {calibration.name} was fitted to" if calibration.target else ""
    raise InvalidInputError(
        "learned_from",
        got=few(keys, _MOST_NAMED, "; ") or f"no {' and no '.join(BANDWIDTHS)}",
        rule=f"must hold {' or '.join(BANDWIDTHS)} of one device, source, revision and software{whose}",
        next_step="Filter the observations by them, or name the calibration that was fitted to them.",
    )


def _in_short(target: str, source: str, software: str, software_version: str, **further: str) -> str:
    """`further` is what else keeps sources apart, in words where it is known."""
    words = [f"{target} from {source} by {f'{software} {software_version}'.strip()}"]
    return ", ".join([*words, *(f"{name.replace('_', ' ')} {value}" for name, value in further.items() if value)])
