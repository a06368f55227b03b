"""Label tables through the service, like the studio, by its questions and in random order.

Run in `benchmarks`: `python -m studio.answers`. An answer counts for all samples that the question lists only
where they are all of the same class; else the sample alone is answered for, as a careful person would do.
"""

from __future__ import annotations

import argparse
import statistics
import tempfile
from collections.abc import Callable, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from typing import Any

import httpx
import numpy as np
from sklearn.metrics import balanced_accuracy_score

from sslart import AutoSSLART
from sslart._utils.text import markdown_table
from sslart.server import serve
from studio.tables import BY_NAME, FRESH, LOOKED_AT, NOT_LOOKED_AT, LabelledTable, Source, table

ANSWERS = 30
MODEL = "m"


@dataclass(frozen=True)
class Outcome:
    """Accuracy and balanced accuracy on other rows, after so many answers and with all labels."""

    asked: float
    asked_balanced: float
    random: float
    random_balanced: float
    full: float
    full_balanced: float
    labels: int
    majority: float


def scores(predicted: Any, truth: list[str]) -> tuple[float, float]:
    """Return accuracy and balanced accuracy."""
    found = np.asarray(predicted).astype(str)
    return float((found == np.array(truth)).mean()), float(balanced_accuracy_score(truth, found))


def predicted_by(http: httpx.Client, data: LabelledTable) -> list[str]:
    """Return the model's predictions for the other rows."""
    rows = data.test_frame.astype(object).where(data.test_frame.notna(), None).to_dict("records")
    found = http.post(f"/v1/models/{MODEL}/predict", json={"rows": rows}).json()["predictions"]
    return [max(one["probabilities"], key=one["probabilities"].get) for one in found]


def label(http: httpx.Client, rows: list[int], data: LabelledTable) -> None:
    """Give rows their classes."""
    labels = [{"row": row, "label": data.answers[row]} for row in rows]
    given = {"labels": labels, "refit": True, "together": len(labels) > 1}
    answer = http.post(f"/v1/models/{MODEL}/labels", params={"wait": 60}, json=given)
    answer.raise_for_status()


def by_questions(http: httpx.Client, data: LabelledTable, n: int) -> int:
    """Answer questions; return how many samples have a label then."""
    n_labels = 0
    for _ in range(n):
        question = http.get(f"/v1/models/{MODEL}/questions", params={"n": 1}).json()["questions"][0]
        rows = question["rows"]
        if len({data.answers[row] for row in rows}) > 1:
            rows = [question["row"]]
        label(http, rows, data)
        n_labels += len(rows)
    return n_labels


def in_random_order(http: httpx.Client, data: LabelledTable, n: int, seed: int) -> int:
    """Answer for samples in a random order."""
    for row in np.random.default_rng(seed + 1000).choice(len(data.answers), n, replace=False).tolist():
        label(http, [row], data)
    return n


def labelled(data: LabelledTable, seed: int | None, n: int) -> tuple[tuple[float, float], int]:
    """Start a service, label a table that has no label, by questions or in random order, and measure."""
    with (
        tempfile.TemporaryDirectory() as folder,
        serve(folder) as service,
        httpx.Client(base_url=service.url, timeout=600) as http,
    ):
        content = data.frame.to_csv(index=False).encode()
        http.put(f"/v1/models/{MODEL}", params={"wait": 600}, content=content).raise_for_status()
        n_labels = by_questions(http, data, n) if seed is None else in_random_order(http, data, n, seed)
        return scores(predicted_by(http, data), data.test_answers), n_labels


def measured(name: str, seed: int, n: int) -> Outcome:
    """Return the accuracy on a table by questions, in random order, and with all its labels."""
    data = table(BY_NAME[name], seed)
    (asked, n_labels), (drawn, _) = labelled(data, None, n), labelled(data, seed, n)
    model = AutoSSLART(random_state=0).fit(data.frame, data.answers)
    full = scores(model.predict(data.test_frame), data.test_answers)
    majority = max(data.test_answers.count(one) for one in set(data.test_answers)) / len(data.test_answers)
    return Outcome(*asked, *drawn, *full, n_labels, majority)


HEAD = (
    "table",
    "most frequent class",
    "all labels",
    "30 answers",
    "share of all labels",
    "30 labels at random",
    "share of all labels",
    "balanced: all, answers, random",
    "samples labelled",
)
ENOUGH = 0.9


@dataclass(frozen=True)
class Group:
    """Tables that were labelled: a line for each, and on how many thirty answers and a random order are enough."""

    lines: list[list[str]]
    n_asked: int
    n_random: int

    @property
    def text(self) -> str:
        """The table, and what there is to be seen in it."""
        return (
            f"{markdown_table(HEAD, self.lines)}\n\n"
            f"Thirty answers lead to at least {ENOUGH:.0%} of the accuracy with all labels on {self.n_asked} of these "
            f"{len(self.lines)} tables,\nthirty labels at random on {self.n_random}."
        )


def group(sources: Sequence[Source], n_seeds: int, n: int, show: Callable[[str], None]) -> Group:
    """Label tables, two at a time; return means over draws of the rows."""
    with ProcessPoolExecutor(2) as pool:
        waiting = [[pool.submit(measured, source.name, seed, n) for seed in range(n_seeds)] for source in sources]
        lines, n_asked, n_random = list[list[str]](), 0, 0
        for source, own in zip(sources, waiting, strict=True):
            outcomes = [one.result() for one in own]
            mean = {name: statistics.fmean(getattr(one, name) for one in outcomes) for name in vars(outcomes[0])}
            asked, drawn = mean["asked"] / mean["full"], mean["random"] / mean["full"]
            n_asked, n_random = n_asked + (asked >= ENOUGH), n_random + (drawn >= ENOUGH)
            lines.append(
                [
                    source.name,
                    f"{mean['majority']:.3f}",
                    f"{mean['full']:.3f}",
                    f"{mean['asked']:.3f}",
                    f"{asked:.1%}",
                    f"{mean['random']:.3f}",
                    f"{drawn:.1%}",
                    ", ".join(f"{mean[f'{name}_balanced']:.3f}" for name in ("full", "asked", "random")),
                    f"{mean['labels']:.0f}",
                ]
            )
            show(" | ".join(lines[-1]))
    return Group(lines, n_asked, n_random)


def main() -> None:
    """Measure and print a table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seeds", type=int, default=2, help="draws of the rows")
    parser.add_argument("--answers", type=int, default=ANSWERS)
    names = [name.split()[0] for name in BY_NAME]
    parser.add_argument("--tables", nargs="*", choices=names, help="only these, by the first word of their names")
    options = parser.parse_args()
    chosen = [source for source in BY_NAME.values() if source.name.split()[0] in (options.tables or ())]
    for sources in [chosen] if chosen else [FRESH, NOT_LOOKED_AT, LOOKED_AT]:
        print(group(sources, options.seeds, options.answers, lambda text: print(text, flush=True)).text)


if __name__ == "__main__":
    main()
