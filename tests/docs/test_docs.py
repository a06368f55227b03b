"""The documentation is correct: examples print what pages show, links lead somewhere, and nothing is left out."""

from __future__ import annotations

import importlib
import re
import runpy
import tomllib
from collections.abc import Iterator
from fnmatch import fnmatch
from pathlib import Path
from typing import Any

import pytest

from pages import FENCE, agrees, examples_of, printed_by

ROOT = Path(__file__).parents[2]
DOCS = ROOT / "docs"
MADE = ("_build", "_templates", "gallery", "generated")  # by `make docs`, not by hand
SOURCES = sorted(
    path for path in DOCS.rglob("*") if path.suffix in (".md", ".rst") and path.relative_to(DOCS).parts[0] not in MADE
)
MARKDOWN = [path for path in SOURCES if path.suffix == ".md"]
# run by test_interoperability.py and export/test_onnx.py
NOT_RUN_HERE = {DOCS / "interoperability.md", DOCS / "onnx.md"}
WITH_EXAMPLES = [
    path for path in MARKDOWN if examples_of(path.read_text(encoding="utf-8")) and path not in NOT_RUN_HERE
]
LINK = re.compile(r"(?<!`)\]\(([^()\s]+)\)")
PUBLIC = (
    "sslart",
    "sslart.client",
    "sslart.dask",
    "sslart.datasets",
    "sslart.explain",
    "sslart.active",
    "sslart.merging.partitions",
    "sslart.metrics",
    "sslart.model_selection",
    "sslart.plotting",
    "sslart.river",
    "sslart.rules",
    "sslart.server",
)


def name_of(path: Path) -> str:
    return path.relative_to(ROOT).as_posix()


LONG = (
    "docs/tour.md",
    "docs/guide/command_line.md",
    "docs/guide/few_labels.md",
    "docs/guide/large_tables.md",
    "docs/guide/costs.md",
    "docs/guide/validation.md",
    "docs/guide/merging.md",
)


def with_marks(page: Path) -> Any:
    """Return a page as a parameter; what takes long is run by `make test-slow`."""
    return pytest.param(page, id=name_of(page), marks=pytest.mark.slow if name_of(page) in LONG else ())


@pytest.mark.parametrize("page", [with_marks(one) for one in WITH_EXAMPLES])
def test_examples_print_what_their_page_shows(page: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    namespace: dict[str, Any] = {}
    for example in examples_of(page.read_text(encoding="utf-8")):
        printed = printed_by(example, namespace, page.name)
        assert agrees(example.shown, printed), f"{name_of(page)}, line {example.line} prints:\n{printed}"


def test_the_tour_and_every_page_of_the_guide_has_examples() -> None:
    guide = {path for path in MARKDOWN if path.parent.name == "guide"} - {DOCS / "guide" / "index.md"}
    assert {DOCS / "tour.md", DOCS / "index.md", DOCS / "install.md"} | guide <= set(WITH_EXAMPLES)


def toctrees(path: Path) -> Iterator[str]:
    """Yield what the tables of contents in a page name, from the root of the docs and without an ending."""
    text = path.read_text(encoding="utf-8")
    if path.suffix == ".md":
        bodies = re.findall(r"^```\{toctree\}\n(.*?)^```", text, re.MULTILINE | re.DOTALL)
    else:
        bodies = re.findall(r"^\.\. toctree::\n((?:[ ]{3}.*\n|\n)*)", text, re.MULTILINE)
    for entry in "\n".join(bodies).splitlines():
        if entry.strip() and not entry.strip().startswith(":"):
            target = re.sub(r".*<(.*)>", r"\1", entry.strip())
            yield (path.parent / target).resolve().relative_to(DOCS).as_posix()


def test_every_page_is_in_a_table_of_contents() -> None:
    named = ["index", *(entry for path in SOURCES for entry in toctrees(path))]
    for path in SOURCES:
        page = path.relative_to(DOCS).with_suffix("").as_posix()
        assert any(fnmatch(page, entry) for entry in named), f"{name_of(path)} is in no toctree"


def test_tables_of_contents_name_pages_that_exist() -> None:
    pages = [path.relative_to(DOCS).with_suffix("").as_posix() for path in SOURCES]
    for path in SOURCES:
        for entry in toctrees(path):
            is_made = entry.split("/")[0] in MADE
            assert is_made or any(fnmatch(page, entry) for page in pages), f"{name_of(path)} names {entry}"


def prose(path: Path) -> str:
    """Return a page without its blocks of code."""
    return FENCE.sub("", path.read_text(encoding="utf-8"))


def anchors(path: Path) -> set[str]:
    """Return the anchors of the headings of a page, as GitHub and the site make them."""
    headings = re.findall(r"^#+ (.*)$", prose(path), re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", heading.lower().strip()).replace(" ", "-") for heading in headings}


@pytest.mark.parametrize(
    "page", [*(ROOT / name for name in ("README.md", "CONTRIBUTING.md", "CHANGELOG.md")), *MARKDOWN], ids=name_of
)
def test_links_inside_the_repository_lead_somewhere(page: Path) -> None:
    for link in LINK.findall(prose(page)):
        if re.match(r"[a-z]+:", link):
            continue  # other sites: `make docs-links`
        file, _, anchor = link.partition("#")
        target = (page.parent / file).resolve() if file else page
        assert target.is_relative_to(ROOT), f"{name_of(page)} leaves the repository: {link}"
        assert target.exists(), f"{name_of(page)} links to {link}, which is not there"
        if anchor:
            assert anchor in anchors(target), f"{name_of(page)} links to {link}; there is no such heading"


@pytest.mark.parametrize("module", PUBLIC)
def test_every_public_name_is_in_the_reference(module: str) -> None:
    try:
        public = set(importlib.import_module(module).__all__) - {"__version__"}
    except ModuleNotFoundError:
        pytest.skip(f"{module} is not here")
    listed = set()
    for path in (DOCS / "reference").glob("*.rst"):
        text = path.read_text(encoding="utf-8")
        if f".. currentmodule:: {module}\n" in text:
            listed |= set(re.findall(r"^(?:   |\.\. data:: )(\w+)$", text, re.MULTILINE))
    assert public <= listed


def test_every_extra_is_in_the_table_of_the_install_page() -> None:
    extras = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["optional-dependencies"]
    rows = [line for line in (DOCS / "install.md").read_text(encoding="utf-8").splitlines() if line.startswith("| `")]
    assert {name for row in rows for name in re.findall(r"`(\w+)`", row.split("|")[1])} == set(extras)


@pytest.mark.slow
def test_the_page_on_vigilance_shows_what_its_example_measures() -> None:
    example = runpy.run_path(str(ROOT / "examples" / "vigilance.py"))
    assert example["table"](example["measure"]()) in (DOCS / "guide" / "vigilance.md").read_text(encoding="utf-8")
