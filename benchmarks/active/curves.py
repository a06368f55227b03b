"""Check of predicted learning curves: is the accuracy with more labels inside the interval?"""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.utils import _safe_indexing
from threadpoolctl import threadpool_limits

from accuracy.sets import load
from reproduction.framework.protocol import seed_of
from sslart import AutoSSLART
from sslart.active import learning_curve

FROM, TIMES, MOST = (25, 50), (1, 2, 4), 200
MAX_ROWS, TRAIN_SHARE = 1000, 0.6


def curves_of(name: str, repeat: int) -> list[dict[str, Any]]:
    """Return the accuracy expected of more labels, drawn at random, and that on test samples which they led to."""
    X, y = load(name)
    seed = seed_of(1, name, repeat)
    rows = np.random.RandomState(seed).permutation(len(y))[:MAX_ROWS]
    n_train = round(TRAIN_SHARE * len(rows))
    train, test = rows[:n_train], rows[n_train:]
    X_train, X_test = _safe_indexing(X, train), _safe_indexing(X, test)
    models, found, truths = {}, {}, []
    with threadpool_limits(1):
        for n in sorted({n * times for n in FROM for times in TIMES if n * times <= min(MOST, n_train)}):
            labels = np.full(n_train, None, dtype=object)
            labels[:n] = y[train[:n]]
            models[n] = AutoSSLART(random_state=seed).fit(X_train, labels)
            found[n] = float(np.mean(models[n].predict(X_test) == y[test]))
        for n in FROM:
            curve = learning_curve(models[n]) if n in models else None
            if curve is None or curve.why_not:
                continue
            for more in (n * times for times in TIMES if n * times in models):
                expected = curve.at(max(curve.n_now, round(curve.n_now * more / n)))
                truths.append(
                    {"n": n, "times": more // n, "value": expected.value, "low": expected.low, "high": expected.high}
                    | {"now": found[n], "truth": found[more], "n_test": len(test)}
                )
    return truths
