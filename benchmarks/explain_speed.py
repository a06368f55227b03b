"""What an explanation costs: explaining 1,000 samples of a model of about 2,000 nodes against predicting them."""

from __future__ import annotations

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


def lines() -> list[str]:
    X, y = mixture(11_000, N_FEATURES)
    training, asked = X[:-N_SAMPLES], X[-N_SAMPLES:]
    found = []
    for name, one_label_in, depth in (("all labelled", 1, None), ("1 in 10", 10, None), ("1 in 10, T = 5", 10, 5)):
        labels = np.where(np.arange(len(training)) % one_label_in == 0, y[:-N_SAMPLES], -1)
        model = SSLART(VIGILANCE, search_depth=depth, random_state=0).fit(training, labels)
        model.predict(asked)
        taken = in_turns(
            {
                # several predictions, so that a busy machine disturbs both alike
                "predict": lambda model=model: [model.predict(asked) for _ in range(REPEATS)],
                "explain": lambda model=model: explain(model, asked),
            },
            TURNS,
        )
        explanations = explain(model, asked)
        flipped = sum(explanation.counterfactual is not None for explanation in explanations)
        # conditions and changes are made when first looked at, all of them by to_dict
        reading = seconds(lambda: [explanation.to_dict() for explanation in explanations])
        times = REPEATS * ratio(taken, "explain", "predict")
        found.append(
            f"{name}: {model.n_nodes_} nodes, predict {1e3 * median(taken['predict']) / REPEATS:.1f} ms, explain "
            f"{1e3 * median(taken['explain']):.1f} ms, ratio {times:.1f} (limit {LIMIT}); "
            f"{flipped} of {N_SAMPLES} with a counterfactual; writing all out (to_dict) {reading:.1f} s more"
        )
    return found


if __name__ == "__main__":
    print("\n".join(lines()))
