"""One learner of CapyMOA on one stream, in a process that imports CapyMOA's own versions of packages only.

python capymoa_worker.py NAME STREAM.npz SHARE SEED RESULT.json
"""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

import numpy as np


class Counted:
    """Counts the labels that the evaluation shows, by wrapping the two ways of learning of a learner."""

    def __init__(self, learner: Any) -> None:
        self.shown: list[bool] = []
        for name, is_label in (("train", True), ("train_on_unlabeled", False)):
            setattr(learner, name, self._noting(getattr(learner, name), is_label))

    def _noting(self, method: Any, is_label: bool) -> Any:
        def noting(instance: Any) -> None:
            self.shown.append(is_label)
            method(instance)

        return noting


def main(name: str, data: str, share: str, seed: str, result: str) -> None:
    from capymoa import ssl
    from capymoa.evaluation import prequential_ssl_evaluation
    from capymoa.stream import NumpyStream

    if name == "OSNN":
        import torch

        torch.set_num_threads(1)
    table = np.load(data)
    stream = NumpyStream(table["X"], table["y"], target_type="categorical")
    schema = stream.get_schema()
    seeds = {"OSNN": "seed", "SLEADE": "random_seed"}
    learner = getattr(ssl, name)(schema=schema, **{seeds[name]: int(seed)})
    counted = Counted(learner)
    # not CapyMOA's loop in Java, whose labels are drawn in another way
    results = prequential_ssl_evaluation(
        stream,
        learner,
        label_probability=float(share),
        random_seed=int(seed),
        optimise=False,
        window_size=None,
        store_predictions=True,
    )
    indices = [-1 if index is None else int(index) for index in results.predictions()]
    values = [int(value) for value in schema.get_label_values()]
    found = {
        "predictions": [values[index] if index >= 0 else -1 for index in indices],
        "shown": counted.shown,
        "seconds": results.cpu_time(),
    }
    Path(result).write_text(json.dumps(found))


if __name__ == "__main__":
    main(*sys.argv[1:])
