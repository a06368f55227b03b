"""Counts: the best labelled box predicts its most frequent class."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from sslart._art.network import Network
from sslart._data.labels import ClassTable, Labels
from sslart._data.samples import Table
from sslart._mapping.base import Choice, Segment
from sslart._utils.arrays import IntArray


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
        return Segment(slice(0, len(codes)), Choice.NONE)

    def learned(
        self,
        network: Network,
        class_table: ClassTable,
        table: Table,
        codes: IntArray,
        labels: Labels,
        *,
        choose: Choice,
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
