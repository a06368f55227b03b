"""Choice of the backend, and the warning if there is no compiled one."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest

from conftest import needs_kernel

PROGRAM = """
import sys, warnings
if {hidden}:
    sys.modules["sslart._kernel"] = None
import sslart
with warnings.catch_warnings(record=True) as caught:
    warnings.simplefilter("always")
    for _ in range(2):
        print(sslart.SSLART(random_state=0).fit([[0], [1]], [0, 1]).predict([[0], [1]]))
sslart.show_versions()
print([str(w.message) for w in caught])
"""


def run(hidden: bool, **environment: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-c", PROGRAM.format(hidden=hidden)],
        env={**{k: v for k, v in os.environ.items() if k != "SSLART_KERNEL"}, **environment},
        capture_output=True,
        text=True,
        check=False,
    )


def test_without_a_kernel_the_reference_runs_and_warns_once() -> None:
    done = run(hidden=True)
    assert done.returncode == 0, done.stderr
    assert done.stdout.startswith("[0 1]\n[0 1]\n")
    assert "kernel: reference (NumPy)" in done.stdout
    assert done.stdout.count("no compiled kernel") == 1
    assert "C++17 compiler" in done.stdout


@pytest.mark.slow
@needs_kernel
def test_with_a_kernel_there_is_no_warning() -> None:
    done = run(hidden=False)
    assert done.stdout.endswith("[]\n"), done.stderr
    assert "kernel: compiled (" in done.stdout


@pytest.mark.slow
def test_the_backend_can_be_forced() -> None:
    done = run(hidden=False, SSLART_KERNEL="reference")
    assert "kernel: reference (NumPy)" in done.stdout
    assert done.stdout.endswith("[]\n")
    assert "no compiled kernel" in run(hidden=True, SSLART_KERNEL="portable").stderr
    assert "must be one of auto" in run(hidden=False, SSLART_KERNEL="turbo").stderr


@needs_kernel
def test_the_reference_is_not_imported_where_there_is_a_kernel() -> None:
    program = (
        "import sys, numpy as np, sslart\n"
        "X = np.random.RandomState(0).rand(60, 3)\n"
        "y = np.where(X[:, 0] > 0.5, 'a', 'b')\n"
        "for model in (sslart.AutoSSLART(random_state=0), sslart.SSLART(), sslart.FuzzyARTMAP()):\n"
        "    model.fit(X, y).partial_fit(X[:2], y[:2]).predict(X)\n"
        "    str(model.explain(X[:1])[0])\n"
        "sslart.FuzzyART().fit(X).score_samples(X)\n"
        "print([name for name in sys.modules if name.startswith('sslart._reference')])\n"
    )
    kept = {name: value for name, value in os.environ.items() if name != "SSLART_KERNEL"}
    done = subprocess.run([sys.executable, "-c", program], env=kept, capture_output=True, text=True, check=False)
    assert done.stdout == "[]\n", done.stderr
