"""Measure AutoSSLART's speed against two classifiers of scikit-learn, for docs/accuracy.md: part of `make accuracy`."""

from __future__ import annotations

import argparse
import json
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.ensemble import RandomForestClassifier
from sklearn.semi_supervised import SelfTrainingClassifier

from accuracy.contenders import OURS, ours_named
from data import mixture
from pieces import ROOT, version_of_ours
from timing import in_turns, median, ratio

N_SAMPLES, N_FEATURES, N_LABELLED = 10_000, 30, 500


def rows_of(ours: str, n_jobs: int | None, n_samples: int, turns: int, budget: float) -> list[dict[str, Any]]:
    """Return a row for `fit` and one for `predict`; `n_jobs` of None leaves every contender its default."""
    X, y = mixture(2 * n_samples, N_FEATURES)
    training, test = X[:n_samples], X[n_samples:]
    labelled = np.arange(n_samples) < N_LABELLED  # the mixture is in random order
    names = np.where(labelled, y[:n_samples].astype(str).astype(object), None)
    codes = np.where(labelled, y[:n_samples], -1)
    options = {} if n_jobs is None else {"n_jobs": n_jobs}

    def mine() -> Any:
        return ours_named(ours)(random_state=0, **options).fit(training, names)

    def self_training() -> Any:
        forest = RandomForestClassifier(100, random_state=0, **options)
        return SelfTrainingClassifier(forest).fit(training, codes)

    model = mine()
    forest = RandomForestClassifier(200, random_state=0, **options).fit(training[labelled], codes[labelled])
    rivals = {
        "fit": ("self-training of a random forest (100 trees)", {"ours": mine, "theirs": self_training}),
        "predict": (
            "random forest (200 trees)",
            {"ours": lambda: model.predict(test), "theirs": lambda: forest.predict(test)},
        ),
    }
    rows = []
    for work, (against, contenders) in rivals.items():
        taken = in_turns(contenders, turns, budget)
        rows.append(
            {
                "work": f"{work} {n_samples:,} samples",
                "n_jobs": "default" if n_jobs is None else str(n_jobs),
                "against": against,
                "ours": median(taken["ours"]),
                "theirs": median(taken["theirs"]),
                "ratio": ratio(taken, "theirs", "ours"),
                "turns": len(taken["ours"]),
            }
        )
        print(rows[-1], flush=True)
    return rows


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--ours", default="auto")
    parser.add_argument("--label", help="version of ours")
    parser.add_argument("--samples", type=int, default=N_SAMPLES)
    parser.add_argument("--turns", type=int, default=7)
    parser.add_argument("--budget", type=float, default=240.0, help="seconds after which no further turn starts")
    parser.add_argument("--out", type=Path, default=ROOT / "results" / "accuracy")
    arguments = parser.parse_args()
    rows = []
    for n_jobs in (None, -1):
        rows += rows_of(arguments.ours, n_jobs, arguments.samples, arguments.turns, arguments.budget)
    data = (
        f"A mixture of 50 Gaussians in 10 classes: {arguments.samples:,} training samples of {N_FEATURES} features, "
        f"{N_LABELLED} of them labelled, and as many to predict."
    )
    arguments.out.mkdir(parents=True, exist_ok=True)
    found = {
        "data": data,
        "name": OURS.get(arguments.ours, arguments.ours),
        "label": arguments.label or version_of_ours(),
        "rows": rows,
    }
    (arguments.out / "speed.json").write_text(json.dumps(found, indent=1) + "\n")


if __name__ == "__main__":
    main()
