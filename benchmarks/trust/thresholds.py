"""Where the tests of confidence thresholds begin: candidates compared on tables that the trust benchmark does not use.

python -m trust.thresholds
"""

from __future__ import annotations

import argparse
import itertools
import warnings
from collections.abc import Iterator
from typing import Any, NamedTuple
from unittest import mock

import numpy as np

import pieces
from sslart import AutoSSLART
from sslart._mapping import conformal
from sslart._mapping.model_view import view_of
from sslart._utils.text import markdown_table
from trust.panels import INDEPENDENT, classes_of, table_of

JUDGED = ("MASS/Pima.tr", "MASS/biopsy", "carData/TitanicSurvival")  # the trust benchmark has a version of these
TUNING = {name: label for name, label in INDEPENDENT if name not in JUDGED}
N_LABELS, MAX_TRAINING, MAX_TEST = (40, 100, 200), 800, 2000
LEVELS = (0.02, 0.05, 0.1, 0.2)
FIRST, LEAST = (0.3, 0.4, 0.5, 0.6), (22, 45, 90)


class Work(NamedTuple):
    """One fit."""

    table: str
    n_labels: int
    draw: int


def work_of(n_draws: int) -> Iterator[Work]:
    """Yield every fit for which a table has enough rows."""
    for name, n_labels, draw in itertools.product(TUNING, N_LABELS, range(n_draws)):
        if n_labels <= len(table_of(name)) // 2:
            yield Work(name, n_labels, draw)


def do(work: Work) -> dict[str, Any] | None:
    """Return confidences of left-out labels and of test rows, and which are wrong; None for tables it cannot read."""
    random, frame, label = np.random.default_rng([work.draw, work.n_labels]), table_of(work.table), TUNING[work.table]
    frame = frame[frame[label].notna()].reset_index(drop=True)
    y, order = classes_of(frame[label]).astype(str), random.permutation(len(frame))
    train, test = order[: min(len(order) // 2, MAX_TRAINING)], order[len(order) // 2 :][:MAX_TEST]
    few = np.full(len(train), None, dtype=object)
    chosen = random.choice(len(train), work.n_labels, replace=False)
    few[chosen] = y[train][chosen]
    X = frame.drop(columns=label)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model = AutoSSLART(random_state=work.draw).fit(X.iloc[train], few)
        try:
            proba = model.predict_proba(X.iloc[test])
        except ValueError:  # test rows with values of another kind
            return None
    left_out = view_of(model).left_out
    assert left_out is not None
    alone = np.unique(left_out.groups, return_index=True)[1]
    return {
        **work._asdict(),
        "confidence": left_out.confidence[alone].tolist(),
        "wrong": (~left_out.right[alone]).tolist(),
        "test confidence": proba.max(axis=1).tolist(),
        "test wrong": (model.classes_[proba.argmax(axis=1)] != y[test]).tolist(),
    }


def compared(results: list[dict[str, Any]]) -> str:
    """Return how much is answered, and how many models exceed their limit, for each candidate."""
    rows = []
    for first, least in itertools.product(FIRST, LEAST):
        row = [f"{first:g}", str(least)]
        with mock.patch.multiple(conformal, FIRST_TESTED=first, LEAST_TESTED=least):
            for level in LEVELS:
                shares, above = [], []
                for one in results:
                    scores = np.array(one["confidence"]), np.array(one["wrong"])
                    limit = conformal.certain_error_curve(*scores, conformal.CERTAINTY).least_confidence(level)
                    kept = np.array(one["test confidence"]) >= limit
                    shares.append(kept.mean())
                    if kept.any():
                        above.append(np.array(one["test wrong"])[kept].mean() > level)
                row += [f"{100 * np.mean(shares):.1f}", f"{sum(above)} of {len(above)}"]
        rows.append(row)
    head = ["first tested", "least tested"]
    return markdown_table(head + [f"{level:g}: {one}" for level in LEVELS for one in ("answered, %", "above")], rows)


def main() -> None:
    """Do what is missing, and print the comparison."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--draws", type=int, default=4)
    arguments = pieces.parsed(parser, "trust", None)
    pieces.one_thread_each()
    path = arguments.out / "thresholds.jsonl"
    known = {tuple(one[name] for name in Work._fields): one for one in pieces.stored(path)}
    work = list(work_of(arguments.draws))
    for one in work:
        if tuple(one) not in known and (found := do(one)) is not None:
            pieces.store(path, [found])
            known[tuple(one)] = found
    print(compared([known[tuple(one)] for one in work if tuple(one) in known]))


if __name__ == "__main__":
    main()
