"""Settings of evidence mapping: parameters fixed by the user, and the grid of candidates.

Without heavy imports, so that importing sslart stays quick.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np

from sslart._data.labels import Label
from sslart._data.samples import plain_value
from sslart._mapping import evidence
from sslart._utils.arrays import FloatArray
from sslart._utils.validation import MAX_SEED, check_half_life, check_number, check_whole, saved_whole

BANDWIDTHS = tuple(2.0**-level for level in range(6))
RANK_WEIGHTS = (0.0, 0.5, 1.0)  # scales: by range, half and half, by rank
RIDGES = (1e-3, 3e-3, 1e-2, 3e-2, 0.1, 0.3, 1.0, 3.0, 10.0)  # wider grids, from 1e-6 to 100, were no better
N_BLOCKS = 40  # folds of the outer cross-validation over the selection; more cost time, fewer leave fewer labels
AUTO = "auto"
HALF_LIVES = (200.0, 1000.0, 5000.0, np.inf)  # candidates in a stream, in samples
NO_BLOCK = -1  # block of a label not used in a selection
MANY_CLASSES = 100  # with more classes, settings are selected on some of them
MIN_SETTING, MAX_SETTING = 1e-6, 1e6  # of τ and λ: the limits of single precision


class FixedSettings(NamedTuple):
    """Settings fixed by the user: families, τ, λ, and rank weight; None for those selected by leave-one-out.

    `is_coarse`: whether to try few values, which suffice if later labels correct the result; `known` are then tried
    as well.
    """

    families: tuple[str, ...] | None = None
    bandwidth: float | None = None
    ridge: float | None = None
    rank_weight: float | None = None
    is_coarse: bool = False
    known: tuple[Mixture, ...] = ()

    @classmethod
    def checked(cls, owner: str, families: Any, bandwidth: Any, ridge: Any, rank_weight: Any) -> FixedSettings:
        """Validate the settings."""
        return cls(
            None if families is None else _checked_names(owner, families),
            None if bandwidth is None else check_number(owner, "bandwidth", bandwidth, MIN_SETTING, MAX_SETTING),
            None if ridge is None else check_number(owner, "ridge", ridge, MIN_SETTING, MAX_SETTING),
            None if rank_weight is None else check_number(owner, "rank_weight", rank_weight, 0, 1),
        )

    def allows(self, family: str, *, is_costly: bool = False) -> bool:
        """Return True if a family is tried; a costly one is skipped on the coarse grid, unless the user names it."""
        return not (self.is_coarse and is_costly) if self.families is None else family in self.families

    @property
    def bandwidths(self) -> tuple[float, ...]:
        """The values of τ to try."""
        return self.some(BANDWIDTHS) if self.bandwidth is None else (self.bandwidth,)

    @property
    def middle_bandwidths(self) -> tuple[float, ...]:
        """Two middle values of τ, for bases that are costly or tried in pairs."""
        if self.bandwidth is not None:
            return self.bandwidths
        return self.bandwidths[1:2] if self.is_coarse else self.bandwidths[2:4]

    @property
    def rank_weights(self) -> tuple[float, ...]:
        """The rank weights to try: values, ranks, and their mean."""
        if self.rank_weight is not None:
            return (self.rank_weight,)
        return self.some(RANK_WEIGHTS)

    @property
    def middle_rank_weight(self) -> float:
        """The rank weight of bases that are tried with one rank weight only."""
        return 0.5 if self.rank_weight is None else self.rank_weight

    @property
    def ridges(self) -> tuple[float, ...]:
        """The values of λ to try."""
        return self.some(RIDGES) if self.ridge is None else (self.ridge,)

    def some(self, values: tuple[float, ...]) -> tuple[float, ...]:
        """Return all values, or every second one on the coarse grid."""
        return values[1::2] if self.is_coarse else values


def _checked_names(owner: str, families: Any) -> tuple[str, ...]:
    names = tuple(np.atleast_1d(np.asarray(families, dtype=object)))
    known = evidence.FAMILY_NAMES
    if not names or any(not (isinstance(name, str) and name in known) for name in names):
        raise ValueError(f"families of {owner} must be some of {', '.join(known)}, got {families!r}. None takes all.")
    return names


class BasisSpec(NamedTuple):
    """Specification of one basis: its kind, its rank weight, and τ (or the kind's parameter instead of τ)."""

    kind: str
    rank_weight: float
    bandwidth: float


class Mixture(NamedTuple):
    """A candidate: bases with averaged Gram matrices, and their λ.

    `weight` is its weight in the average; `without` has its weights in the selections without each block of labels,
    and is empty if they are all equal to `weight`.
    """

    specs: tuple[BasisSpec, ...]
    ridge: float
    weight: float = 1.0
    without: tuple[float, ...] = ()

    def to_state(self) -> dict[str, Any]:
        """Return plain values."""
        specs = [list(spec) for spec in self.specs]
        return {"specs": specs, "ridge": self.ridge, "weight": self.weight, "without": np.array(self.without)}

    def weighing(self, weight: float, without: FloatArray) -> Mixture:
        """Return the mixture with other weights."""
        same = bool((without == weight).all())
        return self._replace(weight=float(weight), without=() if same else tuple(without.tolist()))

    def weights_without(self) -> FloatArray:
        """Return the weights in the selections without each block."""
        return np.array(self.without) if self.without else np.full(N_BLOCKS, self.weight)


DEFAULT_MIXTURE = Mixture((BasisSpec("box", 0.5, 0.25),), 0.01)  # used if labels cannot select settings


class EvidenceSettings(NamedTuple):
    """The parameters of evidence mapping.

    Fixed settings, the maximum number of stored labels, the seed, class weights ("balanced", weights other than one by
    class, or None), and the half-life of labels in samples ("auto": selected in the stream; None: infinite).
    """

    fixed: FixedSettings
    max_labels: int
    seed: int
    class_weight: str | dict[Label, float] | None = None
    half_life: float | str | None = None

    @property
    def is_auto(self) -> bool:
        """True if half-lives compete."""
        return self.half_life == AUTO

    @property
    def candidates(self) -> tuple[float, ...]:
        """The competing half-lives of labels in samples, ascending; the last one has the highest initial weight."""
        if self.is_auto:
            return HALF_LIVES
        return (np.inf if self.half_life is None else float(self.half_life),)

    @classmethod
    def checked(
        cls,
        owner: str,
        fixed: FixedSettings,
        max_labels: Any,
        seed: int,
        class_weight: Any,
        half_life: float | str | None,
    ) -> EvidenceSettings:
        """Validate the settings."""
        kept = check_whole(owner, "max_labels", max_labels)
        assert kept is not None
        return cls(fixed, kept, seed, _checked_class_weight(owner, class_weight), half_life)

    def to_state(self) -> dict[str, Any]:
        """Return plain values."""
        fixed = {name: getattr(self.fixed, name) for name in ("families", "bandwidth", "ridge", "rank_weight")}
        return {**fixed, **{name: value for name, value in self._asdict().items() if name != "fixed"}}

    @classmethod
    def from_state(cls, state: dict[str, Any]) -> EvidenceSettings:
        """Restore the settings from a saved state after validating it."""
        owner = "a model"
        names = ("families", "bandwidth", "ridge", "rank_weight")
        fixed = FixedSettings.checked(owner, *(state[name] for name in names))
        half_life = check_half_life(owner, state["half_life"], allow_auto=True)
        seed = saved_whole(state, "seed", 0, MAX_SEED - 1)
        return cls.checked(owner, fixed, state["max_labels"], seed, state["class_weight"], half_life)


def _checked_class_weight(owner: str, given: Any) -> str | dict[Label, float] | None:
    if given is None or given == "balanced":
        return None if given is None else "balanced"
    if not isinstance(given, Mapping):
        raise ValueError(
            f"class_weight of {owner} must be None, 'balanced' or a dict from class to weight, got {given!r}."
        )
    return {
        plain_value(label): check_number(owner, f"class_weight of class {label!r}", weight, 0, open_low=True)
        for label, weight in given.items()
    }
