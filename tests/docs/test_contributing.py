"""The page for contributors: its walk-through adds a family of evidence, on a copy of the package."""

from __future__ import annotations

import importlib.util
import re
import shutil
import subprocess
import sys
from pathlib import Path
from typing import NamedTuple

import pytest

import sslart
from pages import FENCE

PAGE = Path(__file__).parents[2] / "CONTRIBUTING.md"
SECTION = "## Add a family of basis functions"
COMPARE_WITH_ONNX = """
import numpy as np
import onnxruntime
from sslart import SSLART, to_onnx

X = np.random.default_rng(0).random((200, 4))
X[::7, 1] = np.nan
y = np.where(abs(X[:, 0] - 0.5) < 0.25, 0, 1)
model = SSLART(mapping="evidence", families=["hinge", "linear"], random_state=0).fit(X, y)
assert "hinge" in model.family_weights_
session = onnxruntime.InferenceSession(to_onnx(model).SerializeToString())
np.testing.assert_allclose(session.run(None, {"X": X})[1], model.predict_proba(X), atol=1e-5)
sslart.save(model, "model.sslart")
np.testing.assert_array_equal(sslart.load("model.sslart").predict_proba(X), model.predict_proba(X))
"""


class Step(NamedTuple):
    """A block of the walk-through, and the file that the text before it names last."""

    language: str
    content: str
    file: str


def steps() -> list[Step]:
    text = PAGE.read_text(encoding="utf-8").split(SECTION)[1].split("\n## ")[0]
    found = []
    for block in FENCE.finditer(text):
        named = re.findall(r"`src/(sslart/\S+\.py)`", text[: block.start()])
        found.append(Step(block[1], block[2], named[-1] if named else ""))
    return found


def apply(diff: str, file: Path) -> None:
    """Apply a diff without line numbers: its unchanged lines must occur once, one after the other."""
    before = "".join(line[1:] + "\n" for line in diff.splitlines() if not line.startswith("+"))
    after = "".join((line[1:] if line else "") + "\n" for line in diff.splitlines())
    source = file.read_text(encoding="utf-8")
    assert source.count(before) == 1, f"{file.name} does not have once:\n{before}"
    file.write_text(source.replace(before, after), encoding="utf-8")


def run(code: str, folder: Path) -> str:
    """Run code with the package in a folder; without `site`, so that an editable install cannot take its place."""
    paths = [str(folder), *(path for path in sys.path if path.endswith("-packages"))]
    start = f"import sys; sys.path[:0] = {paths!r}; import sslart; assert sslart.__file__.startswith({str(folder)!r})\n"
    result = subprocess.run(
        [sys.executable, "-S", "-c", start + code], cwd=folder, capture_output=True, text=True, encoding="utf-8"
    )
    assert result.returncode == 0, result.stderr
    return result.stdout


@pytest.fixture(scope="module")
def extended(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a folder with a copy of the package to which the walk-through was applied."""
    folder = tmp_path_factory.mktemp("extended")
    shutil.copytree(Path(sslart.__file__).parent, folder / "sslart", ignore=shutil.ignore_patterns("__pycache__"))
    kernel = importlib.util.find_spec("sslart._kernel")
    if kernel is not None and kernel.origin is not None:
        shutil.copy(kernel.origin, folder / "sslart")
    definition, *changes = steps()[:-2]
    assert definition.language == "python"
    assert not (folder / definition.file).exists()
    (folder / definition.file).write_text(definition.content, encoding="utf-8")
    assert [step.language for step in changes] == ["diff"] * len(changes)
    for step in changes:
        apply(step.content, folder / step.file)
    return folder


@pytest.mark.slow
def test_one_file_and_one_registration_make_a_family_that_users_can_choose(extended: Path) -> None:
    example, shown = steps()[-2:]
    assert run(example.content, extended) == shown.content


@pytest.mark.slow
def test_one_function_converts_it_to_onnx(extended: Path) -> None:
    pytest.importorskip("onnx")
    pytest.importorskip("onnxruntime")
    run(COMPARE_WITH_ONNX, extended)


def test_a_family_changes_three_files() -> None:
    assert len({step.file for step in steps()[:-2]}) == 3
