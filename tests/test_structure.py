"""The structure of the code: nobody reads private attributes of others, imports are at the top, folders are small."""

from __future__ import annotations

import ast
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path

import pytest

from sslart._utils.optional import OPTIONAL_PACKAGES

TESTS = Path(__file__).parent
PACKAGE = Path(__file__).parents[1] / "src" / "sslart"
REPRODUCTION = TESTS.parent / "reproduction"
MODULES = sorted([*PACKAGE.rglob("*.py"), *(one for one in REPRODUCTION.rglob("*.py") if "tests" not in one.parts)])
PROTOCOLS = {"_asdict", "_fields", "_make", "_replace", "_repr_html_"}  # of named tuples and of notebooks


def name_of(path: Path) -> str:
    return path.relative_to(PACKAGE if path.is_relative_to(PACKAGE) else TESTS.parent).as_posix()


def tree_of(path: Path) -> ast.Module:
    return ast.parse(path.read_text(encoding="utf-8"))


@pytest.fixture(scope="module", params=MODULES, ids=name_of)  # each is parsed once for all tests of it
def module(request: pytest.FixtureRequest) -> tuple[Path, ast.Module]:
    return request.param, tree_of(request.param)


def is_private(name: str) -> bool:
    return name.startswith("_") and not name.endswith("__") and name not in PROTOCOLS


def own_private_names(tree: ast.Module) -> set[str]:
    """Return the private names that a module defines: functions, classes, fields, and attributes set on self."""
    names = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.FunctionDef | ast.ClassDef):
            names.add(node.name)
        elif isinstance(node, ast.AnnAssign | ast.Assign):
            targets = node.targets if isinstance(node, ast.Assign) else [node.target]
            for target in targets:
                for part in ast.walk(target):
                    if isinstance(part, ast.Name):
                        names.add(part.id)
                    elif isinstance(part, ast.Attribute) and getattr(part.value, "id", "") == "self":
                        names.add(part.attr)
    return {name for name in names if is_private(name)}


def foreign_private_reads(tree: ast.Module) -> Iterator[str]:
    """Yield reads of private attributes that belong to other modules."""
    own = own_private_names(tree)
    modules = {
        alias.asname or alias.name
        for node in ast.walk(tree)
        if isinstance(node, ast.Import | ast.ImportFrom)
        for alias in node.names
    }
    for node in ast.walk(tree):
        if isinstance(node, ast.Attribute) and is_private(node.attr) and node.attr not in own:
            on_itself = isinstance(node.value, ast.Name) and node.value.id in {"self", "cls", *modules}
            on_super = isinstance(node.value, ast.Call) and ast.unparse(node.value.func) == "super"
            if not on_itself and not on_super:
                yield f"line {node.lineno}: {ast.unparse(node)}"


def test_no_module_reads_private_attributes_of_others(module: tuple[Path, ast.Module]) -> None:
    path, tree = module
    if path.parent.name == "estimators":
        pytest.skip("the estimators are one package: an ensemble reads its members")
    assert list(foreign_private_reads(tree)) == []


def test_only_optional_packages_are_imported_inside_functions(module: tuple[Path, ast.Module]) -> None:
    _, tree = module
    functions = [node for node in ast.walk(tree) if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)]
    found = set()
    for function in functions:
        for node in ast.walk(function):
            if isinstance(node, ast.ImportFrom):
                found.add((node.module or "").split(".")[0])
            elif isinstance(node, ast.Import):
                found |= {alias.name.split(".")[0] for alias in node.names}
    assert found <= set(OPTIONAL_PACKAGES)


def test_no_two_modules_of_the_tests_share_a_name() -> None:
    """Their folders are no packages: Python knows each by its name alone, and imports one of two."""
    named = defaultdict(list)
    for path in sorted(TESTS.rglob("*.py")):
        named[path.stem].append(path.relative_to(TESTS).as_posix())
    assert {name: paths for name, paths in named.items() if len(paths) > 1} == {}


PRINTING = {"cli/_output.py", "cli/__init__.py"}  # the second where rich may not be imported


@pytest.mark.parametrize("path", [one for one in MODULES if name_of(one).startswith("cli/")], ids=name_of)
def test_commands_print_through_one_file_where_no_character_of_a_table_acts(path: Path) -> None:
    calls = [node for node in ast.walk(tree_of(path)) if isinstance(node, ast.Call)]
    printing = [call.lineno for call in calls if isinstance(call.func, ast.Name) and call.func.id == "print"]
    raw_json = [call.lineno for call in calls if any(given.arg == "ensure_ascii" for given in call.keywords)]
    assert not raw_json
    assert not printing or name_of(path) in PRINTING
