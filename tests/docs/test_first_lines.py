"""The first line of every docstring states its subject or its action, in the terms of the field."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
SOURCES = sorted(path for folder in ("src/sslart", "reproduction") for path in (ROOT / folder).rglob("*.py"))
# an opening clause in place of a noun or a verb, as in "What a model predicts" or "Return which rows are labelled"
CLAUSE = re.compile(r"(Returns? )?(what|who|whose|whom|of|whether|how|which|that)\b", re.IGNORECASE)


def is_text(node: ast.stmt) -> bool:
    return isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant) and isinstance(node.value.value, str)


def first_lines(source: str) -> Iterator[tuple[int, str]]:
    """Yield the line number and the first line of each docstring, those below attributes included."""
    waiting: list[ast.AST] = [ast.parse(source)]
    while waiting:
        node = waiting.pop()
        if isinstance(node, ast.stmt | ast.Module | ast.ExceptHandler):
            waiting += (one for name in ("body", "orelse", "handlers", "finalbody") for one in getattr(node, name, ()))
        if not isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef):
            continue
        for before, text in zip([None, *node.body], node.body, strict=False):
            if is_text(text) and (before is None or isinstance(before, ast.Assign | ast.AnnAssign)):
                assert isinstance(text, ast.Expr)
                assert isinstance(text.value, ast.Constant)
                yield text.lineno, str(text.value.value).strip().split("\n")[0]


@pytest.mark.parametrize(
    "line",
    [
        "What a model predicts.",
        "Whether members vote.",
        "How much each class counts.",
        "Of each member.",
        "Return which rows have a label.",
        "Return whether a row is learnt.",
        "That the service answers.",
    ],
)
def test_a_clause_is_found(line: str) -> None:
    (found,) = first_lines(f'class A:\n    x: int = 0\n    """{line}"""\n')
    assert found[0] == 3
    assert CLAUSE.match(found[1])


@pytest.mark.parametrize("line", ["Mask of labelled rows.", "Return True if a row is learnt.", "Offset of a row."])
def test_nouns_and_verbs_are_accepted(line: str) -> None:
    (found,) = first_lines(f'def f():\n    """{line}\n\n    Of other lines nothing is asked.\n    """\n')
    assert not CLAUSE.match(found[1])


def test_first_lines_begin_with_a_noun_or_a_verb() -> None:
    assert len(SOURCES) > 100
    found = [
        f"{path.relative_to(ROOT).as_posix()}:{number}: {line}"
        for path in SOURCES
        for number, line in first_lines(path.read_text(encoding="utf-8"))
        if CLAUSE.match(line)
    ]
    assert not found, "\n".join(found)
