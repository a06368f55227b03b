"""Mapping from boxes to classes: the interface of all mappings, and the mapping by class counts."""

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
    from sslart._mapping.evidence.replicates import Replicates


class Effort(IntEnum):
    """Effort of selecting settings: none, a few candidates (in streams, where it is frequent), or all candidates."""

    NONE = 0
    QUICK = 1
    CAREFUL = 2


class Segment(NamedTuple):
    """Rows of a stream that are learnt together, and True if the mapping selects its settings after them."""

    rows: slice
    choose: Effort


class FitSize(NamedTuple):
    """Size of a fit: maximum numbers of samples and boxes, coded features, stored labels, and classes."""

    n_samples: int
    n_features: int
    n_boxes: int
    n_labels: int  # 0 without evidence
    n_classes: int


class Mapping:
    """A mapping from the boxes of one network to classes; the base class stores nothing. Immutable."""

    uses_evidence: bool = False  # whether every prediction sums over all boxes; else the best labelled box decides
    one_to_one: bool = False  # whether match tracking restricts each box to one class
    settings_by_labels: bool = True  # with evidence, whether labels have chosen the settings

    @property
    def scoring(self) -> EvidenceMapping | None:
        """The mapping itself if it is evidence mapping, which scores samples; else None."""
        return None

    @property
    def max_labels(self) -> int:
        """With evidence, the maximum number of stored labelled samples; 0 for others."""
        return 0

    @property
    def weighs_classes(self) -> bool:
        """True for evidence mapping with class weights."""
        return False

    def memory(self, size: FitSize) -> float:
        """Return an upper bound of the memory of a fit, in bytes."""
        return 0.0

    def keeping(self, max_labels: int) -> Self:
        """Return the mapping with another limit on stored labelled samples."""
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
    def replicates(self) -> Replicates | None:
        """With evidence, the regression without each block of labels; None if that is not possible."""
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
        """With evidence, the dependence between rows found by `fit`; None if there is none."""
        return None

    def dependent_units(self, candidates: Sequence[Units]) -> Units | None:
        """With evidence, return the units within which labelled rows depend on each other; None if none do."""
        return None

    def grouped_by(self, units: Units) -> Self:
        """With evidence, return the mapping with the labels of one unit left out together."""
        return self

    @property
    def kept_labels(self) -> tuple[Table, IntArray] | None:
        """With evidence, the stored labelled samples and their class codes; None for others."""
        return None

    @property
    def has_samples(self) -> bool:
        """False for a model saved without its labelled samples."""
        return True

    @property
    def kept_samples(self) -> Table | None:
        """Labelled samples stored by evidence mapping, or their placeholders in a model saved without samples."""
        return None

    @property
    def n_answers(self) -> int:
        """With evidence, the number of stored labels, those given by one answer counted once; 0 for others."""
        return 0

    def network_of(self, network: Network) -> Network:
        """Return the network used for predictions, given the one that learns."""
        return network

    def check_classes(self, owner: str, class_table: ClassTable) -> None:
        """Raise a ValueError if a parameter names a class without labels."""

    def segment(self, codes: IntArray, n_classes: int) -> Segment:
        """Return the rows of a stream, given by class codes, to learn before the mapping needs the network."""
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

        `codes`: class codes, -1 where unlabelled; `choose`: whether to select settings anew; `is_last`: whether this is
        the last segment of the call; `in_order`: whether samples are in order of time; else all are as old as the last.
        """
        return self

    def after_unlabelled(self, class_table: ClassTable) -> Self:
        """Return the mapping after an unlabelled sample that triggers no selection of settings."""
        return self

    def with_columns(self, network: Network, n_columns: int) -> Self:
        """Return the mapping after columns were added to its network, missing in all samples so far."""
        return self

    def to_state(self, *, samples: bool = True, promises: bool = False) -> dict[str, Any] | None:
        """Return the state to save in addition to that of the network, or None.

        `samples`: include the stored samples; `promises`: include leave-one-out predictions, for guarantees.
        """
        return None


@dataclass(frozen=True)
class CountsMapping(Mapping):
    """Mapping by class counts: the best labelled box predicts its majority class. The network stores the counts.

    One-to-many, where a box may contain several classes, or one-to-one, where it contains only one.
    """

    one_to_one: bool = False
