"""The page on the paper names every item of it, and only names that exist."""

from __future__ import annotations

import ast
import importlib
import inspect
import re
import shlex
from pathlib import Path
from typing import Any

import pytest
from typer.main import get_command

import reproduction
import sslart
from reproduction.commands import app
from reproduction.datasets import list_datasets
from reproduction.runner.registry import EXPERIMENTS, GROUPS
from sslart import SSLART
from sslart.cli._app import command, loaded

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "docs" / "paper.md").read_text(encoding="utf-8")
ROMAN = ("I", "II", "III", "IV", "V", "VI", "VII", "VIII", "IX")
PARAMETERS = (
    "ρ_a",
    "ρ_b",
    "ρ_ab",
    "α_a",
    "α_b",
    "β_a",
    "β_b",
    "δ",
    "T_j",
    "T",
    "M",
    "We",
    "Q",
    "D",
    "N_a",
    "N_b",
    "F^OtM",
)
OF_CLASSIFIERS = ("fit", "predict", "partial_fit")
IN_THE_REPOSITORY = ("SSLART_DATA", "results", "CITATION.cff")  # a variable, a folder that is made, a file
NO_NAME = ("no parameter", "not here", "every value in (0, 1] acts alike")  # reasons why an item has no name


def rows() -> list[tuple[str, str, str]]:
    """Return the rows of the tables of items: what it is, its lines, and its place in the library."""
    found = []
    for table in re.findall(r"^\| item \|.*\n\|[-|]+\n((?:\|.*\n)+)", PAGE, re.MULTILINE):
        for line in table.splitlines():
            item, lines, place = (cell.strip() for cell in line.strip("|").split("|"))
            found.append((item, lines, place))
    return found


def names() -> list[str]:
    """Return all that the tables and the text of the page write as code, without its examples."""
    prose = re.sub(r"^```.*?^```$", "", PAGE, flags=re.MULTILINE | re.DOTALL)
    return sorted(set(re.findall(r"`([^`\n]+)`", prose)))


def check_command(words: list[str]) -> None:
    """Raise an AssertionError where a command line has no such command, option or experiment."""
    program = words.pop(0)
    current = command() if program == "sslart" else get_command(app)
    while words and words[0] in getattr(current, "commands", {}):
        name = words.pop(0)
        current = loaded(name) if program == "sslart" else current.commands[name]
    assert not getattr(current, "commands", {}) or not words
    options = {name for parameter in current.params for name in parameter.opts}
    for word in words:
        if word.startswith("--"):
            assert word in options
        else:
            assert program == "reproduction"
            assert word in EXPERIMENTS


def attribute(dotted: str) -> Any:
    """Return a public name: one of `sslart` where it has no module in front."""
    found: Any = reproduction if dotted.startswith("reproduction.") else sslart
    parts = dotted.removeprefix(f"{found.__name__}.").split(".")
    for place, part in enumerate(parts):
        assert not part.startswith("_")
        if inspect.ismodule(found) and not hasattr(found, part):
            found = importlib.import_module(f"{found.__name__}.{part}")
        elif inspect.isclass(found) and place == len(parts) - 1 and not hasattr(found, part):
            # attributes of fitted models and fields are documented, but no attributes of the class
            assert re.search(rf"^    (\w+, )*{part}(, \w+)* : ", found.__doc__ or "", re.MULTILINE)
        else:
            found = getattr(found, part)
    return found


def check(name: str) -> None:
    """Raise an error where a name does not exist: a command, a file, or a name in Python, with parameters or not."""
    if name.startswith(("sslart ", "python ")) or name == "sslart":
        words = shlex.split(name.replace("python -m ", ""))
        if words[0] == "python":
            assert (ROOT / words[1]).is_file()
        else:
            check_command(words)
    elif name.startswith("--"):
        check_command(["reproduction", "run", name])
    elif name.startswith("make "):
        assert f"\n{name.split()[1]}:" in (ROOT / "Makefile").read_text(encoding="utf-8")
    elif name in (*EXPERIMENTS, *GROUPS, *inspect.signature(SSLART).parameters, *OF_CLASSIFIERS, *IN_THE_REPOSITORY):
        pass
    elif "/" in name:
        assert (ROOT / name).exists()
    else:
        expression = ast.parse(name, mode="eval").body
        if isinstance(expression, ast.Call):
            callable_ = attribute(ast.unparse(expression.func))
            given = [ast.unparse(one) for one in expression.args] + [one.arg for one in expression.keywords]
            assert given
            assert set(given) <= set(inspect.signature(callable_).parameters)
            values = {one.arg: ast.literal_eval(one.value) for one in expression.keywords if one.arg is not None}
            if values:
                callable_(**values).fit([[0.0], [1.0]], [0, 1])  # refuses a value that does not exist
        else:
            attribute(name)


@pytest.mark.parametrize("name", names())
def test_what_the_page_names_exists(name: str) -> None:
    check(name)


@pytest.mark.parametrize(
    "name",
    [
        "sslart fit --none",
        "sslart none",
        "python -m reproduction run none",
        "python -m reproduction none",
        "--none",
        "make none",
        "SSLART(none)",
        'SSLART(mapping="none")',
        "SSLART.none_",
        "sslart.metrics.none",
        "sslart._mapping",
        "benchmarks/none.py",
        "python benchmarks/none.py",
        "none",
    ],
)
def test_names_that_do_not_exist_are_found(name: str) -> None:
    with pytest.raises((AssertionError, ImportError, AttributeError, ValueError)):
        check(name)


def test_every_item_has_a_place_or_a_reason() -> None:
    assert len(rows()) > 80
    for item, lines, place in rows():
        assert re.search(r"\d|not stated", lines), item
        assert "`" in place or any(reason in place for reason in NO_NAME), item


def test_every_equation_figure_table_and_parameter_is_on_the_page() -> None:
    items = [item for item, _, _ in rows()]
    numbered = {item.split(",")[0] for item in items}
    assert {f"Eq. {number}" for number in range(1, 19)} <= numbered
    assert {f"Fig. {number}" for number in range(1, 9)} <= numbered
    assert {f"Table {number}" for number in ROMAN} <= numbered
    assert "Algorithm 1" in numbered
    symbols = {word for item in items for word in re.split(r"[\s,=]+", item)}
    assert set(PARAMETERS) <= symbols


def test_every_experiment_and_data_set_is_on_the_page() -> None:
    places = " ".join(place for _, _, place in rows())
    for name in EXPERIMENTS:
        assert f"`python -m reproduction run {name}`" in places
    for name in list_datasets():
        assert f"`reproduction.datasets.load_{name}`" in places


def test_figures_and_tables_are_those_that_the_experiments_name() -> None:
    for item, _, place in rows():
        run = re.search(r"`python -m reproduction run (\w+)`", place)
        if run and item.startswith(("Fig.", "Table")):
            assert re.search(rf"{re.escape(item.split(',')[0])}\b", EXPERIMENTS[run[1]].section), item


def test_the_page_and_the_file_say_alike_how_to_cite() -> None:
    citation = (ROOT / "CITATION.cff").read_text(encoding="utf-8")
    for key in ("cff-version: 1.2.0", "message:", "title:", "authors:"):
        assert f"\n{key}" in f"\n{citation}"
    assert f"version: {sslart.__version__}" in citation
    assert f"version = {{{sslart.__version__}}}" in PAGE
    paper = re.search(r'title: "(An Ensemble.*)"', citation)
    assert paper
    assert f"title = {{{paper[1]}}}" in PAGE
    for name in re.findall(r"family-names: (\w+)", citation):
        assert f"{name}, " in PAGE
