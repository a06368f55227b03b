"""The pages on reliability name tests that exist, and each promise has one."""

from __future__ import annotations

import ast
import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
PAGES = {name: (ROOT / "docs" / name).read_text(encoding="utf-8") for name in ("reliability.md", "service_faults.md")}
NAMED = sorted({test for page in PAGES.values() for test in re.findall(r"`(tests/[^`]+)`", page)})
HEADER = "promise | tested against | not promised | test"


def rows(page: str) -> list[list[str]]:
    """Return the cells of each row that has a promise."""
    lines = [line.strip("| \n") for line in page.splitlines() if line.startswith("|")]
    cells = [re.split(r" ?\| ", line) for line in lines if line != HEADER and not line.startswith("---")]
    assert lines.count(HEADER) == page.count("|---|---|---|---|")
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


@pytest.mark.parametrize("name", PAGES)
def test_every_promise_has_a_test(name: str) -> None:
    found = rows(PAGES[name])
    assert len(found) > 10
    assert [row[0] for row in found if len(row) != 4 or "`tests/" not in row[3]] == []
