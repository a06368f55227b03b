"""Prequential evaluation (test, then train) of one contender."""

from __future__ import annotations

import time
import warnings
from typing import Any, Protocol

import numpy as np

from streams.data import Stream

HIDDEN = -1  # the class of a sample without label


class Contender(Protocol):
    """A learner as the protocol needs it: it predicts a block before any of it is learnt.

    Attributes
    ----------
    block : int
        How many samples are predicted, and then learnt, at a time.
    """

    block: int

    def prepare(self, X: np.ndarray) -> Any:
        """Return the samples as this contender takes them, to be cut into blocks; not timed."""

    def predict(self, samples: Any) -> list[int | None]:
        """Return the class of each sample, None where there is no prediction."""

    def learn(self, samples: Any, labels: list[int]) -> None:
        """Learn samples of which some have `HIDDEN` for a label."""


class Run:
    """One contender on one stream, with the labels that it may see."""

    def __init__(self, contender: Contender, stream: Stream, shown: np.ndarray) -> None:
        self.contender = contender
        self.truth = stream.y
        self._samples = contender.prepare(stream.X)
        self._labels = np.where(shown, stream.y, HIDDEN).tolist()
        self._predicted: list[int | None] = []
        self.seconds = 0.0

    def advance(self, n: int) -> None:
        """Predict and learn as many samples more, in whole blocks; the processor time counts."""
        contender, size = self.contender, self.contender.block
        position = len(self._predicted)
        end = min(position + n, len(self.truth))
        start = time.process_time()
        with warnings.catch_warnings(), np.errstate(all="ignore"):
            warnings.simplefilter("ignore")
            while position < end:
                block = self._samples[position : position + size]
                labels = self._labels[position : position + size]
                self._predicted += contender.predict(block)
                contender.learn(block, labels)
                position += size
        self.seconds += time.process_time() - start

    @property
    def right(self) -> np.ndarray:
        """For each sample so far whether the prediction was right; none is wrong."""
        found = [HIDDEN if value is None else value for value in self._predicted]
        same: np.ndarray = np.array(found) == self.truth[: len(found)]
        return same


def measure(contender: Contender, stream: Stream, shown: np.ndarray) -> dict[str, Any]:
    """Return accuracy (%) over all samples, by tenths of the stream, and samples per second of processor time."""
    run = Run(contender, stream, shown)
    run.advance(len(stream.y))
    return found(run.right, run.seconds)


def found(right: np.ndarray, seconds: float) -> dict[str, Any]:
    """Return the result of a run as it is stored."""
    return {
        "accuracy": 100.0 * float(right.mean()),
        "tenths": [round(100.0 * float(part.mean()), 2) for part in np.array_split(right, 10)],
        "samples": len(right),
        "seconds": seconds,
    }
