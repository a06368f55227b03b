"""The mutants of the core: which are drawn, when they are tried again, and what the page says of them."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import pytest

sys.path.insert(0, str(Path(__file__).parents[2] / "benchmarks"))

import mutation
import pieces


def test_files_and_tests_that_are_named_exist() -> None:
    for part in mutation.PARTS.values():
        for file in part.files:
            assert (mutation.PACKAGE / file).is_file()
        for test in part.tests:
            path, _, name = test.partition("::")
            assert f"def {name}" in (mutation.ROOT / path).read_text(encoding="utf-8")
    files = {file for part in mutation.PARTS.values() for file in part.files}
    assert {place.split(":")[0] for place in mutation.EQUIVALENT} <= files


def test_lines_that_compute_nothing_have_no_mutants() -> None:
    source = (
        "'''A module.'''\n"
        "from typing import TYPE_CHECKING\n"
        "if TYPE_CHECKING:\n"
        "    import numpy\n"
        "LIMIT = 3\n"
        "def f(a: int, b: list[int]) -> int:\n"
        "    '''Return 1.'''\n"
        "    if a < LIMIT:\n"
        "        raise ValueError(\n"
        "            f'{a + 1}'\n"
        "        )\n"
        "    return a + 1\n"
    )
    assert mutation.inert_lines(source) == {1, 2, 3, 4, 6, 7, 9, 10, 11}


def test_the_page_has_what_was_tried_and_what_survived(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("cosmic_ray")
    part = mutation.PARTS["selection"]
    sample = mutation.shuffled(part, 0)
    assert mutation.shuffled(part, 1) != sample
    assert sorted(mutation.shuffled(part, 1)) == sorted(sample)
    alive, same, *dead = sample[:5]
    monkeypatch.setattr(mutation, "EQUIVALENT", {same.place: "It changes nothing."})
    monkeypatch.setattr(mutation, "PARTS", {"selection": part})
    results = tmp_path / "results.jsonl"
    for mutant in (alive, same, *dead, alive):
        pieces.store(results, [{"key": mutant.key, "killed": mutant in dead, "tests": mutation.digest(part.tests)}])
    page = mutation.page({"selection": sample[:20]}, 0, results)
    assert f"| selection | `{part.files[0]}` | 0 | {len(sample)} | 5 | 3 | 1 | 60 | 75 |" in page
    assert "Together 3 of 5 were killed, 1 are equivalent, and 1 survived." in page
    assert f"`{alive.changed_line}`\\\n  No test notices it yet." in page
    assert f"`{same.changed_line}`\\\n  It changes nothing." in page
    # what is on the page of other draws and parts stays, and what is tried again is told anew
    assert mutation.page({"selection": []}, 0, results, page) == page
    pieces.store(results, [{"key": alive.key, "killed": True, "tests": mutation.digest(part.tests)}])
    again = mutation.page({"selection": sample[:5]}, 0, results, page)
    assert "Together 4 of 5 were killed, 1 are equivalent, and 0 survived." in again
    assert alive.changed_line not in again
    assert same.changed_line in again
    both = mutation.page({"selection": sample[:5]}, 7, results, page)
    assert f"| selection | `{part.files[0]}` | 7 | {len(sample)} | 5 | 4 | 1 | 80 | 100 |" in both
    assert "Together 7 of 10 were killed, 2 are equivalent, and 1 survived." in both


def test_what_was_killed_is_not_tried_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("cosmic_ray")
    part, tried = mutation.PARTS["ridge"], list[mutation.Mutant]()

    def killed(site: Path, mutant: mutation.Mutant, *_: Any) -> bool:
        tried.append(mutant)
        return True

    monkeypatch.setattr(mutation, "passes", lambda *_, **__: True)
    monkeypatch.setattr(mutation, "killed", killed)
    sample, results, tests = mutation.shuffled(part, 0)[:3], tmp_path / "results.jsonl", mutation.digest(part.tests)
    for mutant, was_killed, own in zip(sample, (True, False, False), ("old", tests, "old"), strict=True):
        pieces.store(results, [{"key": mutant.key, "killed": was_killed, "tests": own}])
    mutation.measure("ridge", part, sample, [tmp_path], results, 1.0)
    assert tried == sample[2:]
    assert pieces.stored(results)[-1]["killed"]
