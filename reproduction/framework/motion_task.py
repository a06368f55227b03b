"""Human motion: its task under noise, shared by three experiments."""

from __future__ import annotations

import numpy as np

from reproduction.framework.protocol import Exam, Split, Task, split, task_and_exam
from reproduction.framework.settings import Settings
from sslart.datasets import add_white_noise, switch_labels

DATASET = "human motion"
NOISES = ("noise-free", "label noise", "feature noise")
PAPER = Settings()
NOT_A_TABLE = (
    "it is about windows of recorded movements, which stay together in stretches; coverage takes a table of numbers"
)
SHARE = 0.1  # of the labelled samples that get noise
DECIBELS = 10.0
QUORUMS = (1, 4)  # one member suffices, or a majority of seven must vote
ABOUT_NOISE = (
    " Noise goes to a tenth of the labelled samples. For the features the paper contradicts itself: by its lines 853, "
    "856 and 862 noise is added to the labelled samples, by the last sentence of line 856 to a tenth of the learning "
    "samples; here it is a tenth of the labelled ones, as for the labels. White noise has a signal-to-noise ratio of "
    "10, as a ratio of powers or in dB, which is the same, on the scale of the training range. Values stay in that "
    "range: features are normalised between 0 and 1 (line 851), and a value outside would widen the scale of all "
    "samples."
)


def noisy_task(seed: int, noise: str, settings: Settings = PAPER) -> tuple[Task, Exam]:
    """Return the task of one repeat: 80/20 with recording stretches kept whole, a quarter labelled, noise on a tenth.

    Label noise switches the class. Feature noise is white noise at 10 dB on the scale of all training samples.
    """
    bunch = settings.load(DATASET)
    random = np.random.RandomState(seed)
    rows: Split = split(bunch.target, random, test=0.2, labelled=0.25, groups=bunch.get("groups"))
    task, exam = task_and_exam(bunch.data, bunch.target, rows, seed, settings.positive("running"))
    X, y = task.X.copy(), task.y
    if noise == "label noise":
        y = switch_labels(y, SHARE, random_state=random)
    elif noise == "feature noise":
        chosen = random.permutation(task.labelled)[: round(SHARE * len(task.labelled))]
        X[chosen] = add_white_noise(X, DECIBELS, random_state=random)[chosen]
    return Task(X, y, task.X_test, seed), exam


def signal_to_noise(seed: int, settings: Settings = PAPER) -> float:
    """Return the signal-to-noise ratio of the noisy samples of one repeat in dB: higher than asked for, by clipping."""
    (clean, _), (noisy, _) = noisy_task(seed, "noise-free", settings), noisy_task(seed, "feature noise", settings)
    changed = (clean.X != noisy.X).any(axis=1)
    lower, span = clean.X.min(axis=0), np.ptp(clean.X, axis=0)
    signal = (clean.X[changed] - lower) / span
    noise = (noisy.X[changed] - clean.X[changed]) / span
    return float(10 * np.log10((signal**2).sum() / (noise**2).sum()))
