"""Human motion: its task under noise, shared by three experiments."""

from __future__ import annotations

import numpy as np

from sslart.experiments._framework.protocol import Exam, Split, Task, split, task_and_exam
from sslart.experiments._framework.sets import load

DATASET = "human motion"
NOISES = ("noise-free", "label noise", "feature noise")
SHARE = 0.1  # of the labelled samples that get noise
DECIBELS = 10.0


def noisy_task(seed: int, noise: str) -> tuple[Task, Exam]:
    """Return the task of one repeat: 80/20 with recording stretches kept whole, a quarter labelled, noise on a tenth.

    Label noise switches the class. Feature noise adds white noise at 10 dB: its variance is a tenth of the mean square
    of the sample, both on the scale of the training range.
    """
    bunch = load(DATASET)
    random = np.random.RandomState(seed)
    rows: Split = split(bunch.target, random, test=0.2, labelled=0.25, groups=bunch.groups)
    task, exam = task_and_exam(bunch.data, bunch.target, rows, seed, positive="running")
    chosen = random.permutation(task.labelled)[: round(SHARE * len(task.labelled))]
    X, y = task.X.copy(), task.y.copy()
    if noise == "label noise":
        y[chosen] = np.where(y[chosen] == "running", "walking", "running")
    elif noise == "feature noise":
        lower, span = X.min(axis=0), np.ptp(X, axis=0)
        unit = (X[chosen] - lower) / span
        power = np.sqrt((unit**2).mean(axis=1, keepdims=True) / 10 ** (DECIBELS / 10))
        X[chosen] = lower + span * np.clip(unit + power * random.standard_normal(unit.shape), 0, 1)
    return Task(X, y, task.X_test, seed), exam
