"""Guarantees of a model at several levels of error, with the share of answered samples, as data and text."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING

from sslart._mapping.guarantees.errors import NEVER
from sslart._mapping.guarantees.promises import Promises, labels_needed, percent_up
from sslart._utils.text import html_table, plural

if TYPE_CHECKING:
    from sslart._mapping.model_view import ModelView

LEVELS = (0.01, 0.02, 0.05, 0.1, 0.2)


@dataclass(frozen=True)
class Guarantee:
    """Guarantee of a model for one `max_error`.

    Attributes
    ----------
    max_error : float
        At most this share of the answered samples are wrong.
    answered : float
        Share of the left-out labels that are answered: an estimate of the share of new samples. 0 where the error
        cannot be promised.
    least_confidence : float or None
        Samples are answered whose confidence is at least this; None where the error cannot be promised.
    n_labels : int
        Labels that there are.
    labels_needed : int
        The fewest labels with which this error can be promised: more are needed where some are predicted wrongly.
    """

    max_error: float
    answered: float
    least_confidence: float | None
    n_labels: int
    labels_needed: int

    @property
    def is_possible(self) -> bool:
        """True if the error can be guaranteed."""
        return self.least_confidence is not None

    def sentence(self, noun: str = "samples") -> str:
        """Return the guarantee in words.

        Parameters
        ----------
        noun : str
            What is answered.
        """
        aim = f"to be right {round(100 * (1 - self.max_error), 6):g} times in 100"
        if self.is_possible:
            return f"{aim}, it answers {100 * self.answered:.0f} % of the {noun}"
        if self.n_labels < self.labels_needed:
            needed = plural(self.labels_needed, "label")
            return f"{aim}, it needs at least {needed}, and there are {self.n_labels}"
        return f"{aim}, it answers no {noun}: at every confidence too many left-out labels are predicted wrongly"


@dataclass(frozen=True)
class Guarantees:
    """Guarantees that a model can give with its labels.

    `str()` gives it in words; notebooks show a table.

    Attributes
    ----------
    n_labels : int
        Number of labels; copies and groups count one.
    smallest_error : float
        The smallest `max_error` with which the model answers anything.
    levels : tuple of Guarantee
        What it answers with several values of `max_error`.
    """

    n_labels: int
    smallest_error: float
    levels: tuple[Guarantee, ...]

    def __str__(self) -> str:
        first = f"{plural(self.n_labels, 'label')}: the smallest error that can be promised is "
        lines = [f"{first}{percent_up(self.smallest_error)}."]
        for one in self.levels:
            sentence = one.sentence()
            lines.append(f"{sentence[0].upper()}{sentence[1:]}.")
        return "\n".join(lines)

    def _repr_html_(self) -> str:
        rows = [
            [
                f"{one.max_error:g}",
                f"{one.answered:.0%}" if one.is_possible else "cannot be promised",
                "" if one.least_confidence is None else f"{one.least_confidence:.3f}",
                str(one.labels_needed),
            ]
            for one in self.levels
        ]
        return html_table(["max_error", "answered", "confidence from", "labels needed"], rows)


def guarantees_of(promises: Promises, max_errors: Iterable[float] = LEVELS) -> Guarantees:
    """Return the guarantees at some levels of error."""
    curve, n = promises.curve(), promises.n_labels
    found = []
    for level in max_errors:
        limit, place = curve.least_confidence(level), curve.place(level)
        answered = 0.0 if place is None else float(curve.answered[place] / n)
        n_needed = labels_needed(level)
        found.append(Guarantee(level, answered, None if limit == NEVER else limit, round(n), n_needed))
    return Guarantees(round(n), curve.smallest_error, tuple(found))


def measured_guarantees(view: ModelView) -> Guarantees | None:
    """Return the guarantees of a model; None if it stores no labels, or too few to measure its accuracy."""
    left_out = view.left_out
    return None if left_out is None or left_out.accuracy() is None else guarantees_of(view.promises)
