"""Compare the accuracy that the studio estimates with the true one, while a table is labelled.

Run in `benchmarks`: `python -m studio.estimates`. After 15, 30 and 45 labels, of questions or of a random order, the
estimate for all samples and the leave-one-out accuracy of the labels are compared with the share of the samples without
a label that is predicted rightly.
"""

from __future__ import annotations

import argparse
from concurrent.futures import ProcessPoolExecutor
from typing import Any, NamedTuple

import numpy as np

from sslart import AutoSSLART
from sslart._mapping.model_view import view_of
from sslart._utils.intervals import Estimate
from sslart._utils.text import markdown_table
from sslart.active import QueryPool
from sslart.active._estimates import population_accuracy
from studio.tables import BY_NAME, LOOKED_AT, NOT_LOOKED_AT, LabelledTable, table

AT = (15, 30, 45)
ASKED, RANDOM = "questions", "random order"


class Compared(NamedTuple):
    """The true accuracy, and both estimates of it."""

    truth: float
    over_all: Estimate
    on_labels: Estimate


def compared(data: LabelledTable, how: str) -> list[Compared]:
    """Label a table, and compare after each number of labels."""
    answers = np.array(data.answers, dtype=object)
    order = np.random.default_rng(0).permutation(len(answers)).tolist()
    labels: Any = np.full(len(answers), None, dtype=object)
    model = AutoSSLART(random_state=0).partial_fit(data.frame)
    found = []
    for n in range(1, max(AT) + 1):
        row = next_question(model, data, labels) if how == ASKED else order[n]
        labels[row] = answers[row]
        if how == ASKED or n in AT:
            model = AutoSSLART(random_state=0).fit(data.frame, labels)
        if n in AT:
            found.append(_compared(model, data, labels, answers))
    return [one for one in found if one is not None]


def next_question(model: Any, data: LabelledTable, labels: Any) -> int:
    """Return the sample to ask about."""
    pool = QueryPool(model)
    pool.add(data.frame, [one is not None for one in labels])
    return pool.best(1)[0].row


def _compared(model: Any, data: LabelledTable, labels: Any, answers: Any) -> Compared | None:
    proba, left_out = model.predict_proba(data.frame), view_of(model).left_out
    assert left_out is not None
    is_open = np.array([one is None for one in labels])
    counts = int(is_open.sum()), int((~is_open).sum())
    over_all, on_labels = population_accuracy(left_out, proba[is_open].max(axis=1), *counts), left_out.accuracy()
    if over_all is None or on_labels is None:
        return None
    right = model.classes_[proba.argmax(axis=1)].astype(str) == answers.astype(str)
    return Compared(float(right[is_open].mean()), over_all.estimate, on_labels)


def line(how: str, found: list[Compared]) -> list[str]:
    """Return a line of the table."""
    cells = [how, str(len(found))]
    for name in ("over_all", "on_labels"):
        errors = np.array([getattr(one, name).value - one.truth for one in found])
        held = sum(getattr(one, name).low <= one.truth <= getattr(one, name).high for one in found)
        width = np.mean([getattr(one, name).high - getattr(one, name).low for one in found])
        cells += [f"{100 * errors.mean():+.1f}", f"{100 * np.abs(errors).mean():.1f}", f"{held}", f"{100 * width:.0f}"]
    return cells


HEAD = (
    "tables",
    "labels of",
    "cases",
    *(
        f"{what}: {part}"
        for what in ("for all samples", "leave-one-out")
        for part in ("bias", "error", "held", "width")
    ),
)


def comparison(draws: int) -> str:
    """Return a table with a line for new and for known tables, and for each order of the labels."""
    groups = {"new": NOT_LOOKED_AT, "known": LOOKED_AT}
    jobs = [(name, how) for name in groups for how in (ASKED, RANDOM)]
    with ProcessPoolExecutor(2) as pool:
        waiting = {
            (name, how): [
                pool.submit(_of_table, source.name, how, seed) for source in groups[name] for seed in range(draws)
            ]
            for name, how in jobs
        }
        found = {job: [one for future in waiting[job] for one in future.result()] for job in jobs}
    return markdown_table(HEAD, [[name, *line(how, found[name, how])] for name, how in jobs])


def _of_table(name: str, how: str, seed: int) -> list[Compared]:
    return compared(table(BY_NAME[name], seed), how)


def main() -> None:
    """Measure and print a table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--draws", type=int, default=1, help="of the rows of each table")
    print(comparison(parser.parse_args().draws))


if __name__ == "__main__":
    main()
