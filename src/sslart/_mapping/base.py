"""Mapping from boxes to classes: the protocol of all mappings, and class counts."""

from __future__ import annotations

from dataclasses import dataclass
from enum import IntEnum
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol

from sslart._art.network import Network
from sslart._data.labels import ClassTable, Labels
from sslart._data.samples import Table
from sslart._mapping.loo_predictions import LooPredictions
from sslart._utils.arrays import FloatArray, IntArray

if TYPE_CHECKING:
    from sslart._mapping.evidence.readout import Readout


class Effort(IntEnum):
    """Effort spent on selecting settings: none, a few candidates (for frequent selections), or all of them."""

    NONE = 0
    QUICK = 1
    CAREFUL = 2


class Segment(NamedTuple):
    """Rows of a stream that are learnt together, and whether the mapping chooses its settings after them."""

    rows: slice
    choose: Effort


class Scoring(Protocol):
    """A scorer of coded samples: scores and probabilities of the classes learnt so far."""

    def scores(self, coded: FloatArray, n_jobs: int | None = None) -> FloatArray:
        """Return the scores, shape (n_samples, n_classes)."""

    def proba(self, coded: FloatArray, n_jobs: int | None = None) -> FloatArray:
        """Return the probabilities, shape (n_samples, n_classes)."""


class Mapping(Protocol):
    """A mapping from the boxes of one network to classes. Immutable: every call that learns returns a new one."""

    @property
    def one_to_one(self) -> bool:
        """True if match tracking restricts each box to one class."""

    @property
    def uses_evidence(self) -> bool:
        """True if every prediction sums over all boxes, False if the best labelled box alone decides."""

    @property
    def predicted(self) -> IntArray | None:
        """Class codes predicted for the last samples before they were learnt, -1 for none; None if not recorded."""

    @property
    def readout(self) -> Readout | None:
        """With evidence, the fitted regression."""

    @property
    def scoring(self) -> Scoring | None:
        """The scorer of a mapping with evidence; None for others."""

    def network_of(self, network: Network) -> Network:
        """Return the boxes and the encoder that predictions are made with, given those that learn."""

    @property
    def family_weights(self) -> dict[str, float]:
        """With evidence, the weight of each family of bases; they sum to one. Empty for others."""

    @property
    def left_out(self) -> LooPredictions | None:
        """Leave-one-out predictions of the stored labels of a mapping with evidence; None for others."""

    @property
    def kept_labels(self) -> tuple[Table, IntArray] | None:
        """With evidence, the labelled samples that are kept, and their class codes; None for others."""

    @property
    def kept_samples(self) -> Table | None:
        """Labelled samples stored by a mapping with evidence, or their stand-in in a model saved without samples."""

    @property
    def settings_by_labels(self) -> bool:
        """With evidence, whether labels have chosen the settings; True for others, which choose none."""

    def check_classes(self, owner: str, class_table: ClassTable) -> None:
        """Raise a ValueError where a parameter names a class that `fit` has no label of."""

    def segment(self, codes: IntArray, n_classes: int) -> Segment:
        """Return the first rows of a stream, given by class codes, after which the mapping needs to see the network."""

    def learned(
        self,
        network: Network,
        class_table: ClassTable,
        table: Table,
        codes: IntArray,
        labels: Labels,
        *,
        choose: Effort,
        is_last: bool,
        in_order: bool = True,
    ) -> Mapping:
        """Return the mapping after its network has learnt samples."""

    def after_unlabelled(self, class_table: ClassTable) -> Mapping:
        """Return the mapping after a sample without a label, at which no settings are chosen."""

    def with_columns(self, network: Network, n_columns: int) -> Mapping:
        """Return the mapping after its network has got further columns, missing in all samples learnt so far."""

    def to_state(self, *, samples: bool = True, promises: bool = False) -> dict[str, Any] | None:
        """Return the state to save in addition to that of the network, or None.

        `samples`: with the samples that are kept; `promises`: with what predictions that keep a promise need.
        """


@dataclass(frozen=True)
class CountsMapping:
    """One-to-many, where a box may serve several classes, or one-to-one, where it serves one only.

    The counts themselves are part of the nodes: the network keeps them while it learns.
    """

    one_to_one: bool = False

    uses_evidence = False
    predicted = None
    readout = None
    scoring = None
    left_out = None
    kept_labels = None
    kept_samples = None
    settings_by_labels = True

    @property
    def family_weights(self) -> dict[str, float]:
        """No family has a weight: there is no regression."""
        return {}

    def check_classes(self, owner: str, class_table: ClassTable) -> None:
        """Do nothing: no parameter names a class."""

    def network_of(self, network: Network) -> Network:
        """Return the network that learns: predictions are made with it."""
        return network

    def segment(self, codes: IntArray, n_classes: int) -> Segment:
        """Return all samples as one segment."""
        return Segment(slice(0, len(codes)), Effort.NONE)

    def learned(
        self,
        network: Network,
        class_table: ClassTable,
        table: Table,
        codes: IntArray,
        labels: Labels,
        *,
        choose: Effort,
        is_last: bool,
        in_order: bool = True,
    ) -> CountsMapping:
        """Return the mapping itself: the network has counted."""
        return self

    def after_unlabelled(self, class_table: ClassTable) -> CountsMapping:
        """Return the mapping itself: the network has counted."""
        return self

    def with_columns(self, network: Network, n_columns: int) -> CountsMapping:
        """Return the mapping itself: the network keeps the counts."""
        return self

    def to_state(self, *, samples: bool = True, promises: bool = False) -> dict[str, Any] | None:
        """Return nothing: the counts are saved with the network."""
        return None
