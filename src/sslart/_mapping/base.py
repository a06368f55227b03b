"""Mapping from boxes to classes: the interface of all mappings, and class counts, which need nothing more."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from enum import IntEnum
from typing import TYPE_CHECKING, Any, NamedTuple, Self

from sslart._art.network import Network
from sslart._data.labels import ClassTable, Labels
from sslart._data.samples import Table
from sslart._mapping.loo_predictions import LooPredictions
from sslart._utils.arrays import IntArray

if TYPE_CHECKING:
    from sslart._data.roles import Dependence, Units
    from sslart._mapping.evidence.mapping import EvidenceMapping
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


class FitSize(NamedTuple):
    """Size of a fit: samples and boxes at most, coded features, labels that are kept, and classes."""

    n_samples: int
    n_features: int
    n_boxes: int
    n_labels: int  # 0 without evidence
    n_classes: int


class Mapping:
    """A mapping from the boxes of one network to classes; by default one that stores nothing. Immutable."""

    uses_evidence: bool = False  # whether every prediction sums over all boxes; else the best labelled box decides
    one_to_one: bool = False  # whether match tracking restricts each box to one class
    settings_by_labels: bool = True  # with evidence, whether labels have chosen the settings

    @property
    def scoring(self) -> EvidenceMapping | None:
        """The mapping itself where it scores samples: with evidence."""
        return None

    @property
    def max_labels(self) -> int:
        """With evidence, the most labelled samples that are kept; 0 for others."""
        return 0

    @property
    def weighs_classes(self) -> bool:
        """With evidence, whether labels count by weights of their classes."""
        return False

    def memory(self, size: FitSize) -> float:
        """Return the most memory that a mapping takes in a fit, in bytes."""
        return 0.0

    def keeping(self, max_labels: int) -> Self:
        """Return the mapping with another limit on the labelled samples that are kept."""
        return self

    @property
    def predicted(self) -> IntArray | None:
        """Class codes predicted for the last samples before they were learnt, -1 for none; None if not recorded."""
        return None

    @property
    def readout(self) -> Readout | None:
        """With evidence, the fitted regression."""
        return None

    @property
    def family_weights(self) -> dict[str, float]:
        """With evidence, the weight of each family of bases; they sum to one. Empty for others."""
        return {}

    @property
    def left_out(self) -> LooPredictions | None:
        """Leave-one-out predictions of the stored labels of a mapping with evidence; None for others."""
        return None

    @property
    def dependence(self) -> Dependence | None:
        """With evidence, the dependence between rows that `fit` has found; None where it has found none."""
        return None

    def dependent_units(self, candidates: Sequence[Units]) -> Units | None:
        """With evidence, return the units within which labelled rows depend on each other; None where none do."""
        return None

    def grouped_by(self, units: Units) -> Self:
        """With evidence, return the mapping with the labels of one unit left out together."""
        return self

    @property
    def kept_labels(self) -> tuple[Table, IntArray] | None:
        """With evidence, the labelled samples that are kept, and their class codes; None for others."""
        return None

    @property
    def kept_samples(self) -> Table | None:
        """Labelled samples stored by a mapping with evidence, or their stand-in in a model saved without samples."""
        return None

    def network_of(self, network: Network) -> Network:
        """Return the boxes and the encoder that predictions are made with, given those that learn."""
        return network

    def check_classes(self, owner: str, class_table: ClassTable) -> None:
        """Raise a ValueError where a parameter names a class that `fit` has no label of."""

    def segment(self, codes: IntArray, n_classes: int) -> Segment:
        """Return the first rows of a stream, given by class codes, after which the mapping needs to see the network."""
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
    ) -> Self:
        """Return the mapping after its network has learnt samples.

        `codes`: class codes, -1 where unlabelled; `choose`: whether to choose settings anew; `is_last`: whether no more
        samples follow in this call; `in_order`: whether samples come in the order of time; else all of them are as old
        as the last one.
        """
        return self

    def after_unlabelled(self, class_table: ClassTable) -> Self:
        """Return the mapping after a sample without a label, at which no settings are chosen."""
        return self

    def with_columns(self, network: Network, n_columns: int) -> Self:
        """Return the mapping after its network has got further columns, missing in all samples learnt so far."""
        return self

    def to_state(self, *, samples: bool = True, promises: bool = False) -> dict[str, Any] | None:
        """Return the state to save in addition to that of the network, or None.

        `samples`: with the samples that are kept; `promises`: with leave-one-out predictions, on which guarantees rest.
        """
        return None


@dataclass(frozen=True)
class CountsMapping(Mapping):
    """The best labelled box predicts its most frequent class; the network keeps the counts while it learns.

    One-to-many, where a box may serve several classes, or one-to-one, where it serves one only.
    """

    one_to_one: bool = False
