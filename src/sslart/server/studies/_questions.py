"""Selection of samples to label next, with context that helps to answer."""

from __future__ import annotations

import threading
from collections.abc import Collection, Sequence
from functools import cached_property
from typing import Any

import numpy as np

from sslart._data.labels import UNLABELLED
from sslart._utils.arrays import BoolArray, FloatArray, IntArray
from sslart._utils.text import category_text
from sslart.active import Query, QueryPool
from sslart.active._queries import MISSING, is_reserved
from sslart.server.models._published import Published
from sslart.server.studies._boxes import special_features
from sslart.server.studies._samples import LoadedSamples
from sslart.server.studies._study import Study

MAX_POOL = 50_000  # of more samples, a random subset is considered
FEW = 5_000  # samples are considered anew after every answer; more are, while older ones are asked about
SURE = 0.9
N_ALIKE = 8  # samples that are shown together: few enough to look at each


class Questions:
    """The pool of samples for questions."""

    def __init__(self, loaded: LoadedSamples, published: Published, has_label: BoolArray) -> None:
        self._loaded, self._lock = loaded, threading.Lock()
        n = len(loaded)
        random = np.random.default_rng(0)
        self._places = np.arange(n) if n <= MAX_POOL else np.sort(random.choice(n, MAX_POOL, replace=False))
        self._renewing: threading.Thread | None = None
        self._sequence, self._pool = published.sequence, self._new_pool(published, has_label)

    def _new_pool(self, published: Published, has_label: BoolArray) -> QueryPool:
        pool = QueryPool(published.model)
        samples = self._loaded.samples.raw(self._places)
        if len(samples):
            pool.add(samples, has_label[self._places])
        return pool

    def next(self, study: Study, n: int, skipped: Collection[int]) -> list[dict[str, Any]]:
        """Return the next `n` questions, the most useful first; fewer if the pool is exhausted.

        `skipped` are row numbers to leave out.
        """
        published, has_label = study.published, study.has_label
        with self._lock:
            self._renew(published, has_label)
            self._pool.model = published.model
            done = has_label[self._places] | np.isin(self._loaded.samples.rows[self._places], list(skipped))
            for row in np.flatnonzero(done).tolist():
                self._pool.done(Query(row, 0, 0, new=False, tight=False))
            chosen = [(one, self._pool.box_rows(one)) for one in self._pool.best(n)]
        return [self._question(one, rows, published, done) for one, rows in chosen]

    def share_labelled(self) -> float:
        """Return the share of the samples that fall into boxes with a label."""
        return self._pool.share_labelled() if len(self._places) else 0.0

    def _renew(self, published: Published, has_label: BoolArray) -> None:
        if self._sequence == published.sequence:
            return
        if len(self._places) <= FEW:
            self._sequence, self._pool = published.sequence, self._new_pool(published, has_label)
        elif self._renewing is None or not self._renewing.is_alive():
            work = (published, has_label.copy())
            self._renewing = threading.Thread(target=self._renew_later, args=work, name="questions", daemon=True)
            self._renewing.start()

    def _renew_later(self, published: Published, has_label: BoolArray) -> None:
        pool = self._new_pool(published, has_label)
        with self._lock:
            self._sequence, self._pool = published.sequence, pool

    def _question(self, query: Query, rows: Sequence[int], published: Published, done: BoolArray) -> dict[str, Any]:
        place = int(self._places[query.row])
        together = np.array([one for one in rows if not done[one]])
        is_box = query.tight and len(together) >= N_ALIKE
        if not is_box:
            together = self._alike(query.row, done)
        numbers = self._loaded.samples.rows
        prediction = _prediction(self._loaded, published, place)
        return {
            "row": int(numbers[place]),
            "label": None,
            "kind": "box" if is_box else "sample",
            "box": query.node,
            "n_rows": query.n_samples,
            "rows": numbers[self._places[together]].tolist(),
            "at_random": query.at_random,
            "why": _why(query, prediction),
            "special": special_features(self._loaded, place, query.node),
            "prediction": prediction,
        }

    def _alike(self, row: int, done: BoolArray) -> IntArray:
        """Return a sample of the pool and the most similar ones in the pool, the nearest first."""
        coded = self._coded
        apart = np.abs(coded - coded[row]).sum(axis=1)
        apart[done | is_reserved(np.arange(len(apart)))], apart[row] = np.inf, -1.0
        nearest = np.argsort(apart, kind="stable")[:N_ALIKE]
        return np.asarray(nearest[apart[nearest] < np.inf])

    @cached_property
    def _coded(self) -> FloatArray:
        """The samples of the pool in the unit cube; a missing value is in the middle of the range."""
        return np.nan_to_num(self._loaded.coded[self._places], nan=MISSING)


def questions_of(study: Study) -> Questions:
    """Return the samples that may be asked about, kept with the samples from the first time on."""
    return study.loaded.cached(("questions",), lambda: Questions(study.loaded, study.published, study.has_label))


def _prediction(loaded: LoadedSamples, published: Published, place: int) -> dict[str, Any] | None:
    if not published.classes:
        return None
    found = published.view.predict(loaded.samples.table[place : place + 1], want_proba=True)
    assert found.proba is not None
    probabilities = {str(one): round(p, 6) for one, p in zip(published.classes, found.proba[0].tolist(), strict=True)}
    best, index = int(found.proba[0].argmax()), int(found.indices[0])
    return {
        "class": published.classes[best],
        "abstained": index == UNLABELLED,
        "probability": round(float(found.proba[0, best]), 6),
        "probabilities": probabilities,
    }


def _why(query: Query, prediction: dict[str, Any] | None) -> str:
    if query.at_random:
        return "It was drawn at random: the accuracy is measured on such samples."
    if (prediction is None or query.new) and query.n_samples == 1:
        return "No similar sample has a label."
    if prediction is None or query.new:
        return f"It is one of {query.n_samples} similar samples without a label."
    ranked = sorted(prediction["probabilities"].items(), key=lambda one: -one[1])
    if len(ranked) > 1 and ranked[0][1] < SURE:
        first, second = (category_text(name) for name, _ in ranked[:2])
        return f"The model is uncertain here: {first} and {second} are both probable."
    return "A label here makes the predictions for similar samples more certain."
