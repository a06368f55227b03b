"""Missing packages are named with an install command, which never installs a stranger's package as ours."""

from __future__ import annotations

import ast
import re
import tomllib
from collections.abc import Iterator
from pathlib import Path

import pytest

from sslart._utils.optional import install_command

ROOT = Path(__file__).parents[2]
EXTRAS = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]["optional-dependencies"]
FOR_A_CHECKOUT = {"reproduction"}
PAGES = (*ROOT.glob("*.md"), *(ROOT / "docs").rglob("*.md"), *(ROOT / "docs").rglob("*.rst"))
SOURCES = (*(ROOT / "src").rglob("*.py"), *(ROOT / "examples").rglob("*.py"))


def packages(extra: str) -> set[str]:
    """Return the packages of an extra, including those of nested extras."""
    found = set()
    for one in EXTRAS[extra]:
        own = re.fullmatch(r"sslart\[(.*)\]", one)
        found |= {name for other in own[1].split(",") for name in packages(other)} if own else {one.partition(";")[0]}
    return found


def test_the_extra_all_brings_every_extra_for_users() -> None:
    for extra in set(EXTRAS) - FOR_A_CHECKOUT:
        assert packages(extra) <= packages("all"), extra
    assert "pytest>=8" not in packages("all")


@pytest.mark.parametrize("extra", sorted(set(EXTRAS) - FOR_A_CHECKOUT - {"all"}))
def test_the_command_installs_what_an_extra_brings(extra: str) -> None:
    command = install_command(extra, "none")
    assert command.startswith("pip install ")
    assert set(re.findall('"(.*?)"', command)) == packages(extra)


def test_no_page_and_no_message_installs_our_name_from_the_index() -> None:
    advice = re.compile(r"""pip install[^`;]{0,60}?[ "']sslart\b(?!/)""")
    for path in (*PAGES, *SOURCES):
        text = " ".join(path.read_text(encoding="utf-8").split())
        assert not advice.findall(text), path
    assert advice.search('run pip install --upgrade "sslart[cli]" now')


def requests() -> Iterator[tuple[str, str, str]]:
    """Yield the place, the module and the extra of each call of `optional`."""
    for folder in (ROOT / "src" / "sslart", ROOT / "reproduction"):
        for path in sorted(folder.rglob("*.py")):
            text = path.read_text(encoding="utf-8")
            for call in ast.walk(ast.parse(text)) if "optional(" in text else ():
                if isinstance(call, ast.Call) and isinstance(call.func, ast.Name) and call.func.id == "optional":
                    module, extra = call.args[:2]
                    if isinstance(module, ast.Constant) and isinstance(extra, ast.Constant):
                        yield f"{path.name}, line {call.lineno}", str(module.value), str(extra.value)


def test_every_missing_package_is_asked_for_with_an_extra_that_brings_it() -> None:
    found = list(requests())
    assert len(found) > 20
    for where, module, extra in found:
        brought = {re.split("[>=<]", one)[0] for one in packages(extra)}
        assert module.split(".")[0] in brought, where
