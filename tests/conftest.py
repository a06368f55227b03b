"""Shared pieces: samples rich in ties, models of every kind, and a choice of backend."""

from __future__ import annotations

import importlib.util
import os
import pickle
import shutil
import sys
from collections.abc import Iterator
from hashlib import blake2b
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import strategies as st
from sklearn.datasets import load_breast_cancer

from sslart import SSLART, WESSLART, AutoSSLART, FuzzyART, FuzzyARTMAP
from sslart._art.backend import INSTRUCTION_SETS
from sslart._mapping.evidence.selection import choose

collect_ignore = ["_art/fuzz_kernel.py"]  # a program of its own: `make fuzz`

HAS_KERNEL = importlib.util.find_spec("sslart._kernel") is not None
needs_kernel = pytest.mark.skipif(not HAS_KERNEL, reason="this install has no compiled kernel")


def kernel() -> Any:
    """Return the compiled kernel, which an install may lack."""
    return importlib.import_module("sslart._kernel")


CLASSIFIERS = [
    FuzzyARTMAP(),
    SSLART(random_state=0),
    SSLART(mapping="one-to-one", random_state=0),
    WESSLART(3, random_state=0),
]
ESTIMATORS = [FuzzyART(), *CLASSIFIERS]
EVIDENCE = [
    SSLART(mapping="evidence", families=["box", "linear"], bandwidth=0.25, ridge=0.01, rank_weight=0.5, random_state=0),
    AutoSSLART(random_state=0),
]
ALL = [*ESTIMATORS, EVIDENCE[0]]


def name_of(estimator: Any) -> str:
    return repr(estimator).replace("\n", "")


def few(y: np.ndarray, step: int) -> np.ndarray:
    """Keep one label in so many; the others are unlabelled."""
    return np.where(np.arange(len(y)) % step == 0, y, -1)


# folders of tests that are about something else than fits; most of them fit the same few tables
WITH_KNOWN_CHOICES = {
    "cli",
    "client",
    "docs",
    "explain",
    "export",
    "plotting",
    "reporting",
    "rules",
    "server",
    "studio",
}
MOST_CHOICES = 100
_choices: dict[bytes, Any] = {}


def _known_choice(*given: Any) -> Any:
    key = blake2b(pickle.dumps(given)).digest()
    if key not in _choices:
        if len(_choices) >= MOST_CHOICES:
            _choices.clear()
        _choices[key] = choose(*given)
    return _choices[key]


@pytest.fixture(autouse=True, scope="module")
def settings_are_chosen_once(request: pytest.FixtureRequest) -> Iterator[None]:
    """Choose the settings of evidence mapping once for equal labels and boxes: it takes most of the time of a fit."""
    with pytest.MonkeyPatch.context() as context:
        if WITH_KNOWN_CHOICES & set(request.path.relative_to(Path(__file__).parent).parts):
            context.setattr("sslart._mapping.evidence.mapping.choose", _known_choice)
        yield


@pytest.fixture(scope="module")
def cancer() -> tuple[np.ndarray, AutoSSLART]:
    """Return the breast cancer data and a model that has learnt one label in twenty."""
    X, y = load_breast_cancer(return_X_y=True)
    return X, AutoSSLART(random_state=0).fit(X, few(y, 20))


@pytest.fixture
def blobs() -> tuple[np.ndarray, np.ndarray]:
    """Three clusters of 40 samples in 3 features, in random order."""
    random = np.random.RandomState(0)
    y = random.permutation(np.repeat([0, 1, 2], 40))
    return random.normal(scale=0.6, size=(120, 3)) + 4 * y[:, None], y


@pytest.fixture
def few_labels(blobs: tuple[np.ndarray, np.ndarray]) -> tuple[np.ndarray, np.ndarray]:
    """The same with one label in four."""
    X, y = blobs
    return X, np.where(np.arange(len(y)) % 4 == 0, y, -1)


@pytest.fixture
def plain_pictures(monkeypatch: pytest.MonkeyPatch) -> None:
    """Leave pictures of reports empty, which take most of their time: for tests of what a report says."""
    from matplotlib import pyplot

    def image(figure: Any) -> bytes:
        pyplot.close(figure)
        return b'<svg xmlns="http://www.w3.org/2000/svg" width="300pt" height="200pt"></svg>'

    monkeypatch.setattr("sslart.reporting._pictures._image", image)


def lattices(min_samples: int = 1, max_samples: int = 40, max_features: int = 9, missing: bool = True) -> Any:
    """Samples in [0, 1] on a coarse lattice: many ties, duplicates, corners, and some missing values."""
    steps = st.sampled_from([1, 2, 3, 4, 10])
    shapes = st.tuples(st.integers(min_samples, max_samples), st.integers(1, max_features))

    def of(drawn: tuple[int, tuple[int, int]]) -> Any:
        step, shape = drawn

        def samples_of(content: bytes) -> np.ndarray:  # one draw for all values: it is quick
            codes = np.frombuffer(content, dtype=np.uint8).reshape(shape)
            samples = codes % 64 % (step + 1) / step
            return _with_a_value(np.where(codes < 64, np.nan, samples) if missing else samples)

        size = shape[0] * shape[1]
        return st.binary(min_size=size, max_size=size).map(samples_of)

    return st.tuples(steps, shapes).flatmap(of)


def _with_a_value(samples: np.ndarray) -> np.ndarray:
    samples = samples.copy()
    samples[np.isnan(samples).all(axis=1), 0] = 0.5
    return samples


@pytest.fixture(scope="module")
def client(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Any]:
    """Return a client of a service that has learnt the iris data, for all tests of a module."""
    from service import application, fit_flowers  # the web server is imported by tests of the service only

    with application(tmp_path_factory.mktemp("store")) as found:
        fit_flowers(found)
        yield found


@pytest.fixture(scope="module")  # asyncio.run fails while playwright runs
def browser() -> Iterator[Any]:
    """Return a Chromium that is on the machine; tests that use it are skipped where there is none."""
    names = ("chromium", "chromium-browser", "google-chrome")
    path = os.environ.get("SSLART_CHROMIUM") or next(filter(None, map(shutil.which, names)), None)
    if path is None:
        pytest.skip("no Chromium here; SSLART_CHROMIUM may name one")
    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright:
        found = playwright.chromium.launch(executable_path=path, args=["--no-sandbox", "--disable-gpu"])
        yield found
        found.close()


@pytest.fixture(scope="module")
def opened(tmp_path_factory: pytest.TempPathFactory, browser: Any) -> Iterator[Any]:
    """Return a studio with the iris data, for all tests of a module."""
    from opened import studio
    from service import fit_flowers

    with studio(tmp_path_factory.mktemp("studio"), browser) as found:
        fit_flowers(found.http)
        yield found


@pytest.fixture(params=INSTRUCTION_SETS)
def instruction_set(request: pytest.FixtureRequest) -> Iterator[str]:
    """Let the kernel use each instruction set that this machine has."""
    if request.param not in kernel().instruction_sets():
        pytest.skip("this machine has no such instructions")
    usual = kernel().instruction_set()
    kernel().use_instruction_set(request.param)
    yield request.param
    kernel().use_instruction_set(usual)


@pytest.fixture
def switching_threads_often() -> Iterator[None]:
    """Let threads take turns so often that errors of order show."""
    usual = sys.getswitchinterval()
    sys.setswitchinterval(1e-5)
    yield
    sys.setswitchinterval(usual)
