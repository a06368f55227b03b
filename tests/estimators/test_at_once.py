"""Reading, learning and saving at the same time: everybody sees a state that was published, whole."""

from __future__ import annotations

import copy
import hashlib
import pickle
import sys
import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from sklearn.base import BaseEstimator, clone

import sslart
from conftest import name_of
from sslart import SSLART, WESSLART, AutoSSLART, FuzzyART, FuzzyARTMAP
from sslart._mapping.model_view import view_of

N_FEATURES = 4
QUERIES = np.random.RandomState(1).rand(40, N_FEATURES)

MODELS = [
    FuzzyART(0.9, bounds=(0, 1)),
    FuzzyARTMAP(0.8, bounds=(0, 1)),
    SSLART(0.95, max_nodes=60, bounds=(0, 1)),
    SSLART(0.9, bounds=(0, 1)),
    SSLART(0.8, mapping="one-to-one", random_state=0),
    SSLART(0.9, half_life=60, bounds=(0, 1)),
    WESSLART(3, vigilance=0.85, bounds=(0, 1), n_jobs=2, random_state=0),
    SSLART(0.9, mapping="evidence", families=["box"], bandwidth=0.25, ridge=0.01, bounds=(0, 1), random_state=0),
    WESSLART(2, mapping="evidence", families=["box"], bandwidth=0.25, ridge=0.01, bounds=(0, 1), random_state=0),
]


@pytest.fixture(autouse=True)
def switching_threads_often() -> Iterator[None]:
    usual = sys.getswitchinterval()
    sys.setswitchinterval(1e-5)
    yield
    sys.setswitchinterval(usual)


def stream(model: Any, n_batches: int) -> list[tuple[np.ndarray, Any]]:
    """Batches of one to a few hundred samples; some widen the range, and a class comes late."""
    random = np.random.RandomState(0)
    batches = []
    for number in range(n_batches):
        size = 300 if number % 9 == 0 else int(random.choice([1, 2, 40]))
        X = random.rand(size, N_FEATURES) * (1 + (number % 7 == 3) * number / n_batches)
        y = random.randint(0, 2 + (2 * number > n_batches), size)
        if not isinstance(model, FuzzyARTMAP):
            y[random.rand(size) < 0.5] = -1
        batches.append((X, None if isinstance(model, FuzzyART) else y))
    return batches


def predicted(model: Any) -> bytes:
    """Everything that is read of a model in one call."""
    if isinstance(model, FuzzyART):
        return model.predict(QUERIES).tobytes()
    return model.predict_proba(QUERIES).tobytes()


def with_attributes(model: Any) -> bytes:
    """Output of the view for several of its attributes."""
    view = view_of(model, any_estimator=True)
    parts = [part for member in view.members for part in (*member.boxes, member.support, member.counts)]
    return b"".join(np.ascontiguousarray(part).tobytes() for part in parts)


def saved(model: Any, folder: Path) -> bytes:
    path = folder / f"{threading.get_ident()}.sslart"
    sslart.save(model, path)
    sslart.load(path)
    return hashlib.sha256(path.read_bytes()).digest()


def pickled(model: Any, folder: Path) -> bytes:
    return saved(pickle.loads(pickle.dumps(model)), folder)


def copied(model: Any, folder: Path) -> bytes:
    return saved(copy.deepcopy(model), folder)


class Watcher(threading.Thread):
    """Reads a model again and again, and keeps what it saw."""

    def __init__(self, read: Callable[[], bytes], stop: threading.Event) -> None:
        super().__init__()
        self._read, self._stopped, self.seen, self.error = read, stop, [], None

    def run(self) -> None:
        try:
            while not self._stopped.is_set():
                self.seen.append(self._read())
            self.seen.append(self._read())
        except BaseException as error:
            self.error = error


def check_all_see_published_states(model: Any, n_batches: int, folder: Path) -> int:
    """Check that what readers and savers see is a state after some whole batch, ever later ones; return how many."""
    readings: dict[str, Callable[[Any], bytes]] = {
        "predicted": predicted,
        "attributes": with_attributes,
        "saved": lambda one: saved(one, folder),
        "pickled": lambda one: pickled(one, folder),
        "copied": lambda one: copied(one, folder),
    }
    batches = stream(model, n_batches)
    alone = clone(model)
    expected: dict[str, list[bytes]] = {name: [] for name in readings}
    for X, y in batches:
        alone.partial_fit(X, y)
        for name, read in readings.items():
            expected[name].append(read(alone))

    together = clone(model).partial_fit(*batches[0])
    stop = threading.Event()
    watchers = {name: Watcher(lambda read=read: read(together), stop) for name, read in readings.items()}
    watchers["predicted too"] = Watcher(lambda: predicted(together), stop)
    for watcher in watchers.values():
        watcher.start()
    for X, y in batches[1:]:
        together.partial_fit(X, y)
    stop.set()
    for watcher in watchers.values():
        watcher.join()
    for name, watcher in watchers.items():
        assert watcher.error is None, (name, watcher.error)
        states = expected[name.removesuffix(" too")]
        position = 0
        for seen in watcher.seen:
            assert seen in states[position:], f"{name}: a state that was never published"
            position = states.index(seen, position)
        assert watcher.seen[-1] == states[-1]
    return sum(len(watcher.seen) for watcher in watchers.values())


@pytest.mark.parametrize("model", [MODELS[2], MODELS[4], MODELS[5]], ids=name_of)
def test_readers_and_savers_see_whole_states_while_a_model_learns(model: Any, tmp_path: Path) -> None:
    check_all_see_published_states(model, 12, tmp_path)


@pytest.mark.stress
@pytest.mark.parametrize(
    ("model", "n_batches"),
    [
        *((model, 25 if getattr(model, "mapping", None) == "evidence" else 200) for model in MODELS),
        (AutoSSLART(0.9, bounds=(0, 1), random_state=0), 6),
    ],
    ids=lambda value: name_of(value) if isinstance(value, BaseEstimator) else str(value),
)
def test_readers_and_savers_see_whole_states_for_long(model: Any, n_batches: int, tmp_path: Path) -> None:
    check_all_see_published_states(model, n_batches, tmp_path)


@pytest.mark.parametrize("model", MODELS, ids=name_of)
def test_a_view_shows_the_model_as_it_was_when_it_was_made(model: Any) -> None:
    (X, y), *batches = stream(model, 12)
    model = clone(model).partial_fit(X, y)
    view = view_of(model, any_estimator=True)
    table = view.read(QUERIES)

    def shown() -> list[bytes]:
        own = [member.network.boxes_in_units()[0].tobytes() for member in view.members]
        return own if isinstance(model, FuzzyART) else [*own, view.predict_proba(table).tobytes()]

    before = shown()
    for batch in batches:
        model.partial_fit(*batch)
    assert shown() == before
    assert with_attributes(model) != b"".join(before)


@pytest.mark.parametrize("model", [MODELS[0], MODELS[2], MODELS[4]], ids=name_of)
def test_of_several_threads_that_learn_none_loses_a_sample(model: Any) -> None:
    (X, y), *batches = stream(model, 60)
    model = clone(model).partial_fit(X, y)
    n_learnt = len(X) + sum(len(X) for X, _ in batches)
    threads = [
        threading.Thread(target=lambda own=batches[first::4]: [model.partial_fit(*batch) for batch in own])
        for first in range(4)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    members = view_of(model, any_estimator=True).members
    assert [member.n_samples for member in members] == [n_learnt] * len(members)


def test_parameters_set_while_a_model_learns_are_kept() -> None:
    class Slow(SSLART):
        def _fit_table(self, *args: Any, **kwargs: Any) -> Any:
            begun.set()
            assert changed.wait(10)
            return super()._fit_table(*args, **kwargs)

    begun, changed = threading.Event(), threading.Event()
    model = Slow(0.8)
    learning = threading.Thread(target=lambda: model.fit(QUERIES, np.arange(40) % 2))
    learning.start()
    assert begun.wait(10)
    model.set_params(search_depth=3)
    changed.set()
    learning.join()
    assert model.search_depth == 3
    assert model.n_nodes_ > 0


def test_a_model_that_is_fitted_anew_is_the_former_or_the_next() -> None:
    random = np.random.RandomState(0)
    tables = [(random.rand(60, n), random.randint(0, n, 60)) for n in (3, 5)]
    model = SSLART(0.8, random_state=0).fit(*tables[0])
    stop, found = threading.Event(), set()

    def read() -> None:
        while not stop.is_set():
            view = view_of(model)
            found.add((len(view.feature_names), len(view.classes), view.members[0].network.nodes.n_features))

    reading = threading.Thread(target=read)
    reading.start()
    for number in range(60):
        model.fit(*tables[number % 2])
    stop.set()
    reading.join()
    assert found <= {(3, 3, 3), (5, 5, 5)}
