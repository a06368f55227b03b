"""The page on the layout of the code and the folders agree, and folders stay small."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
PAGE = ROOT / "docs" / "layout.md"
MAX_PYTHON_FILES = 14
OURS = ("src", "tests", "reproduction", "benchmarks", "examples", "docs")
NOT_SOURCE = {"__pycache__", "_build", "generated"}  # and docs/gallery, which `make docs` makes


def entries() -> Iterator[Path]:
    """Yield the files and folders that the listing of the page names."""
    listing = re.search(r"```text\n(.*?)```", PAGE.read_text(encoding="utf-8"), re.DOTALL)
    assert listing
    parents: list[Path] = []
    for line in listing[1].splitlines():
        depth = (len(line) - len(line.lstrip())) // 2
        names = re.split(r" {2,}|(?<=/) ", line.strip())[0].split(", ")
        parents[depth:] = [(parents[depth - 1] if depth else ROOT) / names[0]]
        yield from (parents[depth].parent / name if depth else ROOT / name for name in names)


def folders(root: Path) -> list[Path]:
    """Return a folder and all folders in it, without those that tools make."""
    inside = [path for path in root.rglob("*") if path.is_dir()]
    made = ROOT / "docs" / "gallery"
    return [root, *(p for p in inside if not NOT_SOURCE.intersection(p.parts) and p != made and made not in p.parents)]


def name_of(path: Path) -> str:
    return path.relative_to(ROOT).as_posix()


@pytest.mark.parametrize("source", ["src/sslart", "src/kernel"])
def test_every_package_is_on_the_page(source: str) -> None:
    kinds = ("*.py", "*.hpp")
    packages = {path for path in folders(ROOT / source) if any(any(path.glob(kind)) for kind in kinds)}
    assert not {name_of(path) for path in packages - set(entries())}


def test_what_the_page_names_exists() -> None:
    named = list(entries())
    assert len(named) > 20
    assert not [name_of(path) for path in named if not path.exists()]


def test_packages_come_in_the_order_of_the_import_contract() -> None:
    settings = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    contract = settings["tool"]["importlinter"]["contracts"][0]
    place = {name.strip(): n for n, layer in enumerate(contract["layers"]) for name in layer.split("|")}
    packages = [path.name.removesuffix(".py") for path in entries() if path.parent == ROOT / "src" / "sslart"]
    assert set(packages) == set(place) - {"__main__"}
    places = [place[name] for name in packages]
    assert places == sorted(places, reverse=True)  # the contract starts with the package that imports all others


@pytest.mark.parametrize("page", ["docs/layout.md", "docs/evidence.md", "docs/onnx.md", "CONTRIBUTING.md"])
def test_files_that_a_page_names_exist(page: str) -> None:
    text = (ROOT / page).read_text(encoding="utf-8")
    named = set(re.findall(r"`([\w/]+\.(?:py|hpp|cpp|md|toml))`", text)) - {"src/sslart/_mapping/evidence/hinge.py"}
    roots = (ROOT, ROOT / "src" / "kernel", ROOT / "src" / "sslart", ROOT / "src" / "sslart" / "_mapping" / "evidence")
    assert [name for name in sorted(named) if not any((root / name).is_file() for root in roots)] == []


def test_the_files_named_on_the_page_exist() -> None:
    text = PAGE.read_text(encoding="utf-8").split("```")[2]
    named = set(re.findall(r"`([\w/*]+\.(?:py|hpp|cpp))`", text))
    places = [ROOT / "src" / "sslart", ROOT / "src" / "kernel", ROOT]
    missing = sorted(one for one in named if "*" not in one and not any((place / one).exists() for place in places))
    assert len(named) > 20
    assert not missing
