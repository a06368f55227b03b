"""Intervals of contributions against fits from scratch on other labels of the same table.

python -m explain.certainty --tuning   # the four tables by which the widening and the damping were chosen
python -m explain.certainty            # five other tables, to judge them by; an XOR table; the time of an explanation

Each table is fitted 12 times with labels drawn at random. The true standard deviation is that of a contribution over
the fits, corrected for the overlap of the draws; an interval covers if it contains the mean over the fits.
"""

from __future__ import annotations

import argparse
import time
import warnings
from typing import Any, NamedTuple
from unittest.mock import patch

import numpy as np
import pandas as pd

from explain.counterfactuals import table
from sslart import AutoSSLART
from sslart._mapping.evidence.mapping import EvidenceMapping
from sslart._utils.text import markdown_table

TUNING = ("breast_cancer", "labour force", "orange juice", "spam")
JUDGING = ("credit cards", "mortgages", "seattle_weather", "biopsies", "cars")
N_LABELS, N_DRAWS, N_ROWS, MAX_ROWS = (50, 150), 12, 25, 1500
N_XOR, XOR_LABELS = 20, (30, 60, 100)
N_TIMED = 40


class Certainty(NamedTuple):
    """Figures of one table and number of labels."""

    true_sd: float
    stated: float
    covered: float
    """Of the 95 % intervals, those that contain the mean contribution over the fits."""
    unsettled: float
    """Of the rows, those whose first two contributions have no settled order."""
    stays_if_settled: float
    """Of pairs of fits, those with the same first feature (or one of the same group), if settled in the first fit."""
    stays_otherwise: float
    stated_signs: float
    """Of the contributions, those whose interval excludes 0."""
    wrong_signs: float
    """Of these, those with another sign than the mean over the fits."""
    stated_directions: float
    wrong_directions: float
    """Of the directions stated for the model, those with another sign than the mean over the fits."""


def rows_of(name: str) -> tuple[pd.DataFrame, pd.Series]:
    """Return at most `MAX_ROWS` rows of a table, drawn at random."""
    X, y = table(name)
    known = y.notna().to_numpy()
    chosen = np.random.default_rng(1).permutation(np.flatnonzero(known))[:MAX_ROWS]
    return X.iloc[chosen].reset_index(drop=True), y.iloc[chosen].reset_index(drop=True)


def with_labels(y: pd.Series, n: int, seed: int) -> Any:
    """Return n of the labels, drawn at random, one of each class among them."""
    order = np.random.default_rng(seed).permutation(len(y))
    first = pd.Series(y.to_numpy()[order]).drop_duplicates().index.to_numpy()
    order = np.concatenate([order[first], np.delete(order, first)])
    known = np.isin(np.arange(len(y)), order[:n])
    return y.astype(object).where(known, None)


def certainty(name: str, n_labels: int) -> Certainty:
    """Fit a table on several draws of labels, and compare the contributions with their intervals."""
    X, y = rows_of(name)
    rows = X.iloc[np.linspace(0, len(X) - 1, N_ROWS).astype(int)]
    values, errors, inside, first, settled, directions, stated = ([] for _ in range(7))
    for seed in range(N_DRAWS):
        model = AutoSSLART(random_state=seed).fit(X, with_labels(y, n_labels, seed))
        parts, important = model.contributions(rows), model.feature_importances()
        values.append(parts.values)
        errors.append(parts.standard_errors)
        inside.append(parts.intervals)
        evidence = [one.evidence for one in model.explain(rows)]
        first.append([set(one.contributions[0].features) if one.contributions else set() for one in evidence])
        settled.append([one.order_settled is True for one in evidence])
        directions.append(np.nan_to_num(important.direction))
        stated.append(important.settled_direction)
    every, overlap = np.array(values), 1.0 - n_labels / len(y)
    mean, alone = every.mean(axis=0), np.sqrt(overlap * (1.0 - 1.0 / N_DRAWS))
    reach = (np.array(inside)[..., 1] - np.array(inside)[..., 0]) / 2
    pairs = zip(first, [*first[1:], first[0]], strict=True)
    same = np.array([[bool(a & b) or a == b for a, b in zip(one, other, strict=True)] for one, other in pairs])
    is_settled = np.array(settled)
    signed, of_model, trend = np.abs(every) > reach, np.array(stated), np.array(directions).mean(axis=0)
    return Certainty(
        float(np.sqrt(every.var(axis=0, ddof=1).mean() / overlap)),
        float(np.sqrt((np.array(errors) ** 2).mean())),
        float((np.abs(every - mean) / alone <= reach).mean()),
        float(1.0 - is_settled.mean()),
        float(same[is_settled].mean()) if is_settled.any() else np.nan,
        float(same[~is_settled].mean()),
        float(signed.mean()),
        float((np.sign(every) != np.sign(mean))[signed].mean()),
        float((of_model != 0).mean()),
        float((of_model != np.sign(trend))[of_model != 0].mean()) if of_model.any() else np.nan,
    )


def xor_table(n_labels: int, seed: int) -> tuple[Any, Any]:
    """Return a table whose classes are an exclusive or of two of three columns: no column has a direction."""
    X = np.random.default_rng(seed).uniform(-1, 1, (300, 3))
    y = np.where((X[:, 0] > 0) ^ (X[:, 1] > 0), "one", "two").astype(object)
    y[n_labels:] = None
    return X, y


def xor_directions(n_labels: int) -> tuple[int, int]:
    """Return how often a direction is stated for a column that has none, and how often it is large enough for it."""
    n_stated = n_large = 0
    for seed in range(N_XOR):
        found = AutoSSLART(random_state=0).fit(*xor_table(n_labels, seed)).feature_importances()
        n_stated += int((found.settled_direction != 0).any(axis=1).sum())
        n_large += int((np.abs(found.direction) >= 0.3).any(axis=1).sum())
    return n_stated, n_large


def seconds(name: str) -> tuple[float, float, float, float]:
    """Return the seconds of processor time of the first and of a later explanation, with intervals and without."""
    X, y = rows_of(name)
    models = [AutoSSLART(random_state=0).fit(X, with_labels(y, N_LABELS[-1], 0)) for _ in range(2)]
    taken: tuple[list[float], list[float]] = [], []
    for row in range(1 + N_TIMED):
        for model, own, replicates in zip(models, taken, (EvidenceMapping.replicates, None), strict=True):
            with patch.object(EvidenceMapping, "replicates", replicates):
                start = time.process_time()
                str(model.explain(X.iloc[row : row + 1])[0])
                own.append(time.process_time() - start)
    return taken[0][0], float(np.median(taken[0][1:])), taken[1][0], float(np.median(taken[1][1:]))


def _percent(share: float) -> str:
    return "-" if np.isnan(share) else f"{100 * share:.0f} %"


def main() -> None:
    """Print the figures."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--tuning", action="store_true", help="the tables by which settings were chosen")
    wanted = parser.parse_args()
    warnings.simplefilter("ignore")  # columns that are left out
    head = ["table", "labels", "true sd", "stated", "true / stated", "covered", "order not settled"]
    head += ["first stays, settled", "otherwise", "signs stated", "wrong", "directions stated", "wrong"]
    lines = []
    for name in TUNING if wanted.tuning else JUDGING:
        for n in N_LABELS:
            one = certainty(name, n)
            sds = [f"{one.true_sd:.3f}", f"{one.stated:.3f}", f"{one.true_sd / one.stated:.2f}"]
            lines.append([name, str(n), *sds, *map(_percent, one[2:])])
            print(*lines[-1], sep="\t", flush=True)
    print(markdown_table(head, lines))
    if wanted.tuning:
        return
    for n in XOR_LABELS:
        n_stated, n_large = xor_directions(n)
        print(
            f"XOR, {n} labels: a direction is stated for {n_stated} of {3 * N_XOR} columns; {n_large} are large enough"
        )
    for name in JUDGING:
        first, later, first_without, later_without = seconds(name)
        print(
            f"{name}: first explanation {first:.2f} s, without intervals {first_without:.2f} s; later ones "
            f"{1e3 * later:.1f} ms and {1e3 * later_without:.1f} ms ({later / later_without:.2f} times)"
        )


if __name__ == "__main__":
    main()
