"""What an explanation costs: explaining 1,000 samples of a model of about 2,000 nodes against predicting them."""

from __future__ import annotations

from typing import Any

import numpy as np

from data import mixture
from sslart import SSLART
from sslart.explain import explain
from timing import in_turns, median, ratio, seconds

N_SAMPLES = 1000
N_FEATURES = 30
VIGILANCE = 0.852
TURNS = 15
REPEATS = 10
LIMIT = 20


def read_boxes(explanations: list[Any]) -> int:
    """Read the boxes that predictions follow from, and the changes: parts are computed when they are read."""
    return sum(len(why.box.feature_matches) + len(why.counterfactual.changes) for why in explanations)


def read_all(explanations: list[Any]) -> int:
    """Read every part of every explanation."""
    n_parts = read_boxes(explanations)
    for why in explanations:
        n_parts += len(why.opposing_box.feature_matches) + len(why.search_path)
        n_parts += (why.novelty is not None) + (why.advice is not None)
    return n_parts


def lines() -> list[str]:
    X, y = mixture(11_000, N_FEATURES)
    training, test = X[:-N_SAMPLES], X[-N_SAMPLES:]
    found = []
    for name, one_label_in, depth in (("all labelled", 1, None), ("1 in 10", 10, None), ("1 in 10, T = 5", 10, 5)):
        labels = np.where(np.arange(len(training)) % one_label_in == 0, y[:-N_SAMPLES], -1)
        model = SSLART(VIGILANCE, search_depth=depth, random_state=0).fit(training, labels)
        model.predict(test)
        taken = in_turns(
            {
                # several predictions, so that a busy machine disturbs both alike
                "predict": lambda model=model: [model.predict(test) for _ in range(REPEATS)],
                "explain": lambda model=model: explain(model, test),
                "boxes": lambda model=model: read_boxes(explain(model, test)),
                "all": lambda model=model: read_all(explain(model, test)),
            },
            TURNS,
        )
        explanations = explain(model, test)
        flipped = sum(explanation.counterfactual is not None for explanation in explanations)
        as_text = seconds(lambda: [str(explanation) for explanation in explanations])
        as_dict = seconds(lambda: [explanation.to_dict() for explanation in explanations])
        times = {name: REPEATS * ratio(taken, name, "predict") for name in ("explain", "boxes", "all")}
        found.append(
            f"{name}: {model.n_nodes_} nodes, predict {1e3 * median(taken['predict']) / REPEATS:.1f} ms; explain "
            f"{times['explain']:.1f} times that, {times['boxes']:.1f} with the boxes and changes read "
            f"(limit {LIMIT}), {times['all']:.1f} with every part read; {flipped} of {N_SAMPLES} with a "
            f"counterfactual; str {1e3 * as_text:.0f} ms more, to_dict {1e3 * as_dict:.0f} ms more"
        )
    return found


if __name__ == "__main__":
    print("\n".join(lines()))
