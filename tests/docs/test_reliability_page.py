"""The page on reliability names tests that exist, and each promise has one."""

from __future__ import annotations

import ast
import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "docs" / "reliability.md").read_text(encoding="utf-8")
NAMED = sorted(set(re.findall(r"`(tests/[^`]+)`", PAGE)))
HEADER = "promise | it holds against | not promised | test"


def rows() -> list[list[str]]:
    """Return the cells of each row that has a promise."""
    lines = [line.strip("| \n") for line in PAGE.splitlines() if line.startswith("|")]
    cells = [re.split(r" ?\| ", line) for line in lines if line != HEADER and not line.startswith("---")]
    assert lines.count(HEADER) == PAGE.count("|---|---|---|---|")
    return cells


def names_in(path: Path) -> set[str]:
    """Return the tests of a file: the names of its functions, and `Class::function` where they are methods."""
    body = ast.parse(path.read_text(encoding="utf-8")).body
    classes = [node for node in body if isinstance(node, ast.ClassDef)]
    methods = {f"{owner.name}::{node.name}" for owner in classes for node in owner.body if hasattr(node, "name")}
    return methods | {node.name for node in body if isinstance(node, ast.FunctionDef)}


@pytest.mark.parametrize("test", NAMED)
def test_a_test_that_the_page_names_exists(test: str) -> None:
    file, _, name = test.partition("::")
    assert (ROOT / file).is_file()
    assert not name or name in names_in(ROOT / file)


def test_every_promise_has_a_test() -> None:
    assert len(rows()) > 10
    assert [row[0] for row in rows() if len(row) != 4 or "`tests/" not in row[3]] == []
