"""Compare kernel and reference on adversarial data for a bounded time: `make fuzz`.

Every configuration draws a lattice (or none), duplicates, missing values, learning parameters, a cut of the stream, an
instruction set and the thresholds of filter and tree, learns it on both backends, and compares every array bit for bit.
"""

from __future__ import annotations

import argparse
import sys
import time
from functools import partial
from types import SimpleNamespace
from typing import Any

import numpy as np

import sslart._kernel as kernel
import sslart._reference as reference
from sslart._art.backend import use_backend
from sslart._art.boxes import LearningParams
from sslart._art.network import Network
from sslart._data.encoder import Encoder
from sslart._data.samples import Table


def configuration(seed: int) -> dict:
    random = np.random.RandomState(seed)
    n_features = int(random.choice([1, 2, 3, 5, 7, 8, 9, 15, 16, 17, 24, 31, 32, 33, 40, 64, 65, 100]))
    n_samples = int(random.choice([1, 5, 20, 60, 120]))
    steps = random.choice([1, 2, 3, 5, 10, 16, 255, 256, 2**32])
    samples = np.rint(random.rand(n_samples, n_features) * steps) / steps
    if random.rand() < 0.3:  # duplicates, and near duplicates one step of the grid away
        samples = samples[random.randint(0, n_samples, n_samples)]
        samples = np.clip(samples + random.randint(-1, 2, samples.shape) * 2.0**-32, 0, 1)
    if random.rand() < 0.4:
        samples[random.rand(*samples.shape) < random.choice([0.05, 0.3, 0.8])] = np.nan
        samples[np.isnan(samples).all(axis=1), 0] = 0.5
    return {
        "samples": samples,
        "targets": random.randint(-1, random.randint(1, 5), n_samples),
        "params": LearningParams(
            vigilance=float(random.choice([0, 0.1, 0.3, 0.5, 0.7, 0.75, 0.8, 0.9, 0.95, 1])),
            choice=float(random.choice([1e-3, 1e-9, 0.1, 10, 1e6])),
            learning_rate=float(random.choice([1, 1, 0.9, 0.5, 0.1])),
            match_tracking=float(random.choice([1e-6, 0, 0.01])),
            one_to_one=bool(random.rand() < 0.5),
            half_life=[None, None, 1.0, 10.0, 33.3][random.randint(5)],
        ),
        "cut": int(random.randint(0, n_samples + 1)),
        "predict_depth": [None, 0, 1, 3][random.randint(4)],
        "depth": int(random.randint(1, 8)),
        "instruction_set": str(random.choice(kernel.instruction_sets())),
        "filter_from": int(random.choice([1, 1, 10, 10**9])),
        "tree_from": int(random.choice([8, 8, 40, 10**9])),
    }


def history(backend, config: dict) -> list[bytes]:
    samples, targets, params = config["samples"], config["targets"], config["params"]
    unit = Encoder.of_columns(Table(samples))._with_range(np.zeros(samples.shape[1]), np.ones(samples.shape[1]))
    network = Network(unit)
    arrays = []
    with use_backend(backend):
        for rows in (slice(0, config["cut"]), slice(config["cut"], None)):
            if len(targets[rows]):
                network, learnt = network.learned(
                    Table(samples[rows]), targets[rows], 4, params, predict_depth=config["predict_depth"]
                )
                arrays += [learnt.nodes, learnt.predicted]
                arrays += network.rank(Table(samples), params.choice, depth=config["depth"])
        arrays += network.rank(Table(samples), params.choice, depth=config["depth"], labelled_only=True)
    arrays += [getattr(network.nodes, name) for name in ("weights", "norms", "support", "counts", "labels")]
    return [array.tobytes() for array in arrays]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--configurations", type=int, default=20_000)
    parser.add_argument("--seconds", type=float, default=900.0, help="stop earlier when they are over")
    parser.add_argument("--seed", type=int, default=0)
    arguments = parser.parse_args()
    start, done, different = time.monotonic(), 0, []
    while done < arguments.configurations and time.monotonic() - start < arguments.seconds:
        seed = arguments.seed + done
        config = configuration(seed)
        kernel.use_instruction_set(config["instruction_set"])
        thresholds = {name: config[name] for name in ("filter_from", "tree_from")}
        boxes: Any = partial(kernel.Boxes, **thresholds)
        boxes.of = partial(kernel.Boxes.of, **thresholds)
        compiled = SimpleNamespace(__name__=kernel.__name__, encode=kernel.encode, Boxes=boxes)
        if history(compiled, config) != history(reference, config):
            different.append(seed)
        done += 1
    sets = ", ".join(kernel.instruction_sets())
    print(f"{done} configurations on {sets} in {time.monotonic() - start:.0f} s: {len(different)} differ")
    if different:
        sys.exit(f"seeds that differ: {different[:20]}")


if __name__ == "__main__":
    main()
