"""Definition of an experiment: its pieces of work, and the tables and checks made of its results."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from reproduction.framework.protocol import Record, Task, records
from reproduction.framework.settings import Settings
from reproduction.methods.variant import FittedVariant
from sslart.metrics import bootstrap_interval


@dataclass(frozen=True)
class Summary:
    """Mean of one measure over the repeats, its standard deviation and its bootstrap 95 % interval."""

    n: int
    mean: float
    sd: float
    low: float
    high: float

    def __str__(self) -> str:
        spread = f" ± {self.sd:.1f}" if self.n > 1 else ""
        return f"{self.mean:.1f}{spread}"


def _summary_of(values: Sequence[float]) -> Summary | None:
    if not values:
        return None
    low, high = bootstrap_interval(values, n_resamples=2000)
    sd = float(np.std(values, ddof=1)) if len(values) > 1 else 0.0
    return Summary(len(values), float(np.mean(values)), sd, low, high)


class Results:
    """The records of one experiment, and the settings that they were made with."""

    def __init__(self, records: Iterable[Record], settings: Settings | None = None) -> None:
        self.records = list(records)
        self.settings = settings or Settings()
        self._values: dict[tuple[Any, ...], list[float]] = {}
        self._summaries: dict[tuple[Any, ...], Summary | None] = {}
        for record in sorted(self.records, key=lambda record: record.repeat):
            key = (record.dataset, record.method, record.measure, record.vigilance, record.condition)
            self._values.setdefault(key, []).append(record.value)

    def __bool__(self) -> bool:
        return bool(self.records)

    def distinct(self, name: str) -> list[Any]:
        """Return the values that a field of the records takes, in the order they first came."""
        return list(dict.fromkeys(getattr(record, name) for record in self.records))

    @property
    def dataset(self) -> str:
        """The data set of an experiment that has one."""
        return str(self.distinct("dataset")[0])

    @property
    def variants(self) -> list[str]:
        """The models of one's own that took part."""
        names = {one.name for one in self.settings.variants}
        return [name for name in self.distinct("method") if name in names]

    def datasets(self, of_paper: Iterable[str]) -> list[str]:
        """Return the data sets of the tables: those of the paper, or the table of one's own."""
        return list(of_paper) if self.settings.table is None else [self.settings.table.name]

    def summary_exists(self, method: str, vigilance: float | None) -> bool:
        """Return True if a method was run at the given vigilance (None: a method without one)."""
        return any(record.method == method and record.vigilance == vigilance for record in self.records)

    def values(
        self, dataset: str, method: str, measure: str, vigilance: float | None = None, condition: str = ""
    ) -> list[float]:
        """Return one measure over the repeats, those that could not be computed left out."""
        found = self._values.get((dataset, method, measure, vigilance, condition), [])
        return [value for value in found if not np.isnan(value)]

    def summary(
        self, dataset: str, method: str, measure: str, vigilance: float | None = None, condition: str = ""
    ) -> Summary | None:
        """Return mean, spread and interval of one measure, None where it was not measured."""
        key = (dataset, method, measure, vigilance, condition)
        if key not in self._summaries:
            self._summaries[key] = _summary_of(self.values(*key))
        return self._summaries[key]

    def mean(
        self, dataset: str, method: str, measure: str, vigilance: float | None = None, condition: str = ""
    ) -> float:
        """Return the mean of one measure, NaN where it was not measured."""
        values = self.values(dataset, method, measure, vigilance, condition)
        return float(np.mean(values)) if values else float("nan")

    def average(
        self, datasets: Iterable[str], method: str, measure: str, vigilance: float | None, conditions: Iterable[str]
    ) -> float:
        """Return the mean over data sets and conditions of what was measured on them, NaN where nothing was."""
        conditions = list(conditions)
        means = [self.mean(data, method, measure, vigilance, at) for data in datasets for at in conditions]
        known = [mean for mean in means if not np.isnan(mean)]
        return float(np.mean(known)) if known else float("nan")


@dataclass(frozen=True)
class Table:
    """A table of the report: cells are text; `quoted` columns hold what others printed."""

    title: str
    header: Sequence[str]
    rows: Sequence[Sequence[str]]
    quoted: frozenset[int] = frozenset()


@dataclass(frozen=True)
class Check:
    """One statement of the paper, whether our figures confirm it, what they are, and its line in the source."""

    statement: str
    holds: bool
    evidence: str
    line: int


@dataclass(frozen=True)
class Experiment:
    """One experiment of the paper.

    Attributes
    ----------
    name, title : str
    section : str
        The section of the paper, its figure or table, and its lines in the source.
    question : str
        What it is about, in a sentence or two, and every choice that the paper leaves open.
    datasets : tuple of str
    work : callable
        `work(dataset, seed, settings)` does one repetition on one data set and returns its records.
    tables, checks : callables
        From the results to what the report shows.
    figure : callable or None
        Draws the results in the paper's form.
    remarks : callable or None
        From the results to sentences with figures that no statement of the paper is about.
    reason : str
        The likely reason where figures differ.
    refuses : callable
        From a table of one's own to the reason why the experiment cannot take it, "" where it can.
    needs : tuple of str
        Methods that models of one's own need beside fit and predict, or the estimators that they must derive from.
    """

    name: str
    title: str
    section: str
    question: str
    datasets: tuple[str, ...]
    work: Callable[[str, int, Settings], Iterable[Record]]
    tables: Callable[[Results], list[Table]]
    checks: Callable[[Results], list[Check]]
    figure: Callable[[Results], Any] | None = None
    remarks: Callable[[Results], list[str]] | None = None
    reason: str = ""
    refuses: Callable[[Any], str] = lambda bunch: ""
    needs: tuple[str, ...] = ()
    repeats: int = 10
    quick_repeats: int = 2


def refuse_tables(why: str) -> Callable[[Any], str]:
    """Return a function that rejects every table for the same reason."""
    return lambda bunch: why


def only_classes(instead: str, *, two: bool) -> Callable[[Any], str]:
    """Return a function that rejects tables by their number of classes, with an alternative to run instead."""

    def refuses(bunch: Any) -> str:
        n_classes = len(set(bunch.target.tolist()))
        needed = "two classes" if two else "more than two classes"
        return "" if (n_classes == 2) == two else f"it needs {needed}, and the table has {n_classes}: {instead}"

    return refuses


def only_numbers(why: str) -> Callable[[Any], str]:
    """Return a function that rejects tables with columns that are not numeric."""
    refusal = f"{why}, and the table has columns that are not: leave them out with --ignore"
    return lambda bunch: refusal if hasattr(bunch.data, "iloc") else ""


def of_variants(
    settings: Settings,
    dataset: str,
    task: Task,
    vigilances: Sequence[float],
    score: Callable[[FittedVariant], dict[str, float]],
    condition: str = "",
) -> Iterable[Record]:
    """Return the scores of models of one's own, at each vigilance where they have one."""
    for one in settings.variants:
        for model, same in one.at(task, vigilances):
            found = score(model)
            for rho in same:
                yield from records(dataset, one.name, found, vigilance=rho, condition=condition)


def outcome(checks: Sequence[Check]) -> str:
    """Return "reproduced" if at least four fifths of the statements hold, "partly" from two fifths on, else "not"."""
    if not checks:
        return "not run"
    share = sum(check.holds for check in checks) / len(checks)
    return "reproduced" if share >= 0.8 else "partly" if share >= 0.4 else "not"
