"""The same bits for any number of threads, in any thread, alone and together."""

from __future__ import annotations

import hashlib
import os
import subprocess
import sys
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from sklearn.base import clone
from threadpoolctl import threadpool_info, threadpool_limits

import sslart
from sslart import SSLART, WESSLART, AutoSSLART

random = np.random.RandomState(0)
X = random.rand(140, 6)
X[random.rand(*X.shape) < 0.02] = np.nan
y = np.where(random.rand(140) < 0.85, (2 * np.nan_to_num(X)[:, :3].sum(axis=1)).astype(int) % 3, -1)

FIXED = {"mapping": "evidence", "bandwidth": 0.25, "ridge": 0.1, "rank_weight": 0.5, "random_state": 0}
MODELS: dict[str, Callable[..., Any]] = {
    "every family": lambda **changes: SSLART(**FIXED, **changes),
    "ensemble": lambda **changes: WESSLART(2, **FIXED, families=["box", "feature"], **changes),
    "counts": lambda **changes: WESSLART(3, random_state=0, **changes),
}
each_model = pytest.mark.parametrize("make", MODELS.values(), ids=MODELS)


def everything(model: Any, folder: Path) -> str:
    """The probabilities and the file of a model as one text."""
    path = folder / f"{id(model)}.sslart"
    probabilities = model.predict_proba(X)
    sslart.save(model.set_params(n_jobs=None), path)
    return hashlib.sha256(probabilities.tobytes() + path.read_bytes()).hexdigest()


def learnt(model: Any, folder: Path) -> str:
    return everything(model.fit(X, y), folder)


def blas_threads() -> list[int]:
    return [one["num_threads"] for one in threadpool_info() if one["user_api"] == "blas"]


def of_every_model(folder: Path) -> list[str]:
    """State of each model, after a check that it is the same in the main thread, in a pool, and for any n_jobs."""
    found = []
    for make in MODELS.values():
        alone = learnt(make(), folder)
        with ThreadPoolExecutor(2) as pool:
            others = list(pool.map(lambda model: learnt(model, folder), [make(), make(n_jobs=2)]))
        assert others == [alone] * 2
        found.append(alone)
    return found


in_stress = pytest.mark.stress


@pytest.mark.parametrize("threads", [pytest.param(threads, marks=in_stress) for threads in (1, 2, 4)])
def test_bits_do_not_depend_on_the_threads_of_linear_algebra(threads: int, tmp_path: Path) -> None:
    script = "import pathlib, sys, test_same_bits as t; print(*t.of_every_model(pathlib.Path(sys.argv[1])))"
    path = os.pathsep.join([str(Path(__file__).parent), *filter(None, [os.environ.get("PYTHONPATH")])])
    process = subprocess.Popen(
        [sys.executable, "-c", script, str(tmp_path)],
        env={**os.environ, "OPENBLAS_NUM_THREADS": str(threads), "PYTHONPATH": path},
        stdout=subprocess.PIPE,
        text=True,
    )
    here = of_every_model(tmp_path)
    assert process.communicate()[0].split() == here
    assert process.returncode == 0


@pytest.mark.parametrize("limit", [1, 2])
def test_the_threads_of_linear_algebra_stay_as_the_user_set_them(limit: int, tmp_path: Path) -> None:
    make = MODELS["every family"]
    before = blas_threads()
    with threadpool_limits(limit, user_api="blas"):
        assert set(blas_threads()) == {limit}
        with ThreadPoolExecutor(2) as pool:
            futures = [pool.submit(learnt, make(), tmp_path) for _ in range(2)]
            found = [learnt(make(), tmp_path), *(future.result() for future in futures)]
        assert set(blas_threads()) == {limit}
    assert blas_threads() == before
    assert found == [learnt(make(), tmp_path)] * 3


def test_bits_do_not_depend_on_the_instruction_set(tmp_path: Path) -> None:
    kernel = pytest.importorskip("sslart._kernel")
    usual, found = kernel.instruction_set(), set()
    try:
        for name in kernel.instruction_sets():
            kernel.use_instruction_set(name)
            found.add(learnt(MODELS["every family"](), tmp_path))
    finally:
        kernel.use_instruction_set(usual)
    assert len(found) == 1


@each_model
def test_a_sample_has_the_same_bits_alone_and_among_others(make: Callable[..., Any]) -> None:
    model = make().fit(X, y)
    together = model.predict_proba(X)
    alone = np.vstack([model.predict_proba(sample[None]) for sample in X])
    by_seven = np.vstack([model.predict_proba(X[start : start + 7]) for start in range(0, len(X), 7)])
    np.testing.assert_array_equal(alone, together)
    np.testing.assert_array_equal(by_seven, together)
    with ThreadPoolExecutor(4) as pool:
        np.testing.assert_array_equal(np.vstack(list(pool.map(model.predict_proba, np.split(X, 14)))), together)


@pytest.mark.stress
@pytest.mark.parametrize(
    "model", [AutoSSLART(random_state=0), WESSLART(4, mapping="evidence", random_state=0)], ids=["single", "ensemble"]
)
def test_what_the_labels_choose_and_the_rules_do_not_depend_on_threads(model: Any, tmp_path: Path) -> None:
    with threadpool_limits(1, user_api="blas"):
        alone = learnt(clone(model), tmp_path)
        rules = str(sslart.rules.rules_of(clone(model).fit(X, y), X[:40]))
    for limit in (2, 4):
        with threadpool_limits(limit, user_api="blas"), ThreadPoolExecutor(4) as pool:
            several = [clone(model).set_params(n_jobs=n_jobs) for n_jobs in (1, 2, 4)]
            assert [learnt(clone(model), tmp_path), *pool.map(learnt, several, [tmp_path] * 3)] == [alone] * 4
            assert str(pool.submit(sslart.rules.rules_of, several[0], X[:40]).result()) == rules
