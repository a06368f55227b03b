"""Settings that determine the results of a run: seed, size, and the user's own table and models."""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass
from typing import Any

from reproduction.framework.own_table import OwnTable
from reproduction.framework.sets import load
from reproduction.methods.variant import Variant
from sslart import __version__


@dataclass(frozen=True)
class Settings:
    """The settings of a run.

    Attributes
    ----------
    seed : int
    quick : bool
        Whether samples are smaller and repeats fewer.
    table : OwnTable or None
        In the place of the data sets of the paper.
    variants : tuple of Variant
        Models that join those of the experiments.
    version : str
        Of sslart.
    """

    seed: int = 0
    quick: bool = False
    table: OwnTable | None = None
    variants: tuple[Variant, ...] = ()
    version: str = __version__

    def load(self, dataset: str) -> Any:
        """Return the table of one's own where there is one, else a data set by the name that the paper gives it."""
        return load(dataset) if self.table is None else self.table.load()

    def positive(self, of_paper: str | None) -> str | None:
        """Return the class that counts as positive: of the table of one's own, else that of the paper."""
        return of_paper if self.table is None else self.table.positive

    def as_data(self) -> dict[str, Any]:
        """Return the settings as they are read back from JSON."""
        found: dict[str, Any] = json.loads(json.dumps(asdict(self)))
        return found
