"""Mutation testing of the statistical core: `make mutants` writes docs/mutants.md.

Cosmic Ray changes one operator, number or condition of a file at a time; the tests that are named beside the file must
then fail. Mutants are drawn by a seed, `--sample` of each part; results are kept in results/mutants, so that a stopped
run continues. Not drawn are mutants that nobody could tell from the code: in annotations, docstrings and raised errors,
`is` for `==`, and numbers above ten, which are tuned and as good one higher. Run it in an environment where sslart is
installed, not editable: each job mutates a copy of the installed package, which comes first on its path.
"""

from __future__ import annotations

import argparse
import ast
import hashlib
import os
import random
import shutil
import subprocess
import sys
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from queue import SimpleQueue
from typing import Any, NamedTuple

from cosmic_ray.ast import ast_nodes, get_ast
from cosmic_ray.mutating import mutate_code
from cosmic_ray.plugins import get_operator

import sslart
from pieces import ROOT, store, stored

PACKAGE = Path(sslart.__file__).parent
TARGET = 85.0  # per cent killed
MOST_CHANGED = 10.0  # larger numbers are tuned, such as "the best 400 take part": one more or less is as good


class Part(NamedTuple):
    """Files of the core, and the tests that pin them, the quickest first."""

    files: tuple[str, ...]
    tests: tuple[str, ...]


EVIDENCE, TESTS = "_mapping/evidence", "tests/_mapping/evidence"
PARTS = {
    "selection": Part(
        (f"{EVIDENCE}/selection.py",),
        tuple(f"{TESTS}/test_{name}.py" for name in ("specification", "selection", "screening", "honest_choice")),
    ),
    "ridge": Part(
        (f"{EVIDENCE}/basis.py",), tuple(f"{TESTS}/test_{name}.py" for name in ("ridge", "bases", "selection"))
    ),
    "calibration": Part(
        (f"{EVIDENCE}/readout.py",),
        tuple(f"{TESTS}/test_{name}.py" for name in ("readout", "score_parts", "selection")),
    ),
    "guarantees": Part(
        ("_mapping/conformal.py",), ("tests/_mapping/test_conformal.py", "tests/estimators/test_guarantees.py")
    ),
    "rules": Part(("rules/_tree.py", "rules/_model_extraction.py"), ("tests/rules/test_model_rules.py",)),
    "counterfactuals": Part(
        ("explain/_search.py", "explain/_options.py", "explain/_relations.py"),
        ("tests/explain/test_counterfactual_engine.py", "tests/explain/test_counterfactual.py"),
    ),
}
OPERATORS = (
    "NumberReplacer",
    "AddNot",
    "ReplaceTrueWithFalse",
    "ReplaceFalseWithTrue",
    "ReplaceAndWithOr",
    "ReplaceOrWithAnd",
    "ReplaceBreakWithContinue",
    "ReplaceContinueWithBreak",
    "ZeroIterationForLoop",
    "ReplaceUnaryOperator_Delete_USub",
    "ReplaceUnaryOperator_Delete_Invert",
    "ReplaceUnaryOperator_Delete_Not",
    *(
        f"ReplaceBinaryOperator_{one}"
        for one in ("Add_Sub", "Sub_Add", "Mul_Div", "Div_Mul", "Pow_Mul", "FloorDiv_Mul", "Mod_Mul")
    ),
    *(f"ReplaceBinaryOperator_{one}" for one in ("BitAnd_BitOr", "BitOr_BitAnd")),
    *(f"ReplaceComparisonOperator_{one}" for one in ("Lt_LtE", "Lt_GtE", "LtE_Lt", "LtE_Gt", "Gt_GtE", "Gt_LtE")),
    *(f"ReplaceComparisonOperator_{one}" for one in ("GtE_Gt", "GtE_Lt", "Eq_NotEq", "NotEq_Eq")),
)


class Mutant(NamedTuple):
    """One change of one file."""

    file: str
    operator: str
    occurrence: int
    line: int

    @property
    def key(self) -> str:
        """A digest of the file and the change: results of other versions of the file do not count."""
        source = (PACKAGE / self.file).read_bytes()
        return hashlib.sha256(source + repr(self).encode()).hexdigest()[:16]

    def code(self) -> str:
        """Return the file with the change."""
        operator = get_operator(f"core/{self.operator}")()
        changed = mutate_code((PACKAGE / self.file).read_text(encoding="utf-8"), operator, self.occurrence)
        assert changed is not None
        return str(changed)


def inert_lines(source: str) -> set[int]:
    """Return the lines of docstrings, annotations, imports and raised errors."""
    lines: set[int] = set()
    for node in ast.walk(ast.parse(source)):
        inert: list[Any] = []
        if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant):
            inert = [node]
        if isinstance(node, ast.Raise | ast.Import | ast.ImportFrom):
            inert = [node]
        if isinstance(node, ast.AnnAssign) and node.value is None:
            inert = [node]
        if isinstance(node, ast.FunctionDef):
            every = [*node.args.args, *node.args.kwonlyargs, node.args.vararg, node.args.kwarg]
            inert = [one.annotation for one in every if one is not None and one.annotation] + [node.returns]
        for one in filter(None, inert):
            lines |= set(range(one.lineno, one.end_lineno + 1))
    return lines


def mutants_of(file: str) -> Iterator[Mutant]:
    """Yield all changes of a file."""
    source = (PACKAGE / file).read_text(encoding="utf-8")
    tree, inert = get_ast(source), inert_lines(source)
    for name in OPERATORS:
        operator = get_operator(f"core/{name}")()
        places = ((node, start) for node in ast_nodes(tree) for start, _ in operator.mutation_positions(node))
        for occurrence, (node, (line, _)) in enumerate(places):
            is_tuned = name == "NumberReplacer" and float(node.value.replace("_", "")) > MOST_CHANGED
            if line not in inert and not is_tuned:
                yield Mutant(file, name, occurrence, line)


def drawn(part: Part, n: int | None, seed: int = 0) -> list[Mutant]:
    """Return mutants of a part, drawn without regard to the operators."""
    every = [mutant for file in part.files for mutant in mutants_of(file)]
    random.Random(seed).shuffle(every)
    return every[:n]


def passes(site: Path, tests: tuple[str, ...], seconds: float) -> bool:
    """Return True if the tests pass on a copy of the package."""
    environment = {**os.environ, "PYTHONPATH": str(site), "OPENBLAS_NUM_THREADS": "1", "PYTHONDONTWRITEBYTECODE": "1"}
    command = [sys.executable, "-m", "pytest", "-x", "-q", "-p", "no:cacheprovider", "-m", "not slow and not stress"]
    where = [str(ROOT / test) for test in tests]
    try:
        done = subprocess.run(
            [*command, "-c", str(ROOT / "pyproject.toml"), "--rootdir", str(ROOT), *where],
            cwd=ROOT / "tests",
            env=environment,
            capture_output=True,
            timeout=seconds,
        )
    except subprocess.TimeoutExpired:
        return False
    return done.returncode == 0


def killed(site: Path, mutant: Mutant, tests: tuple[str, ...], seconds: float) -> bool:
    """Return True if the tests fail on a mutant."""
    path = site / "sslart" / mutant.file
    try:
        path.write_text(mutant.code(), encoding="utf-8")
        return not passes(site, tests, seconds)
    finally:
        shutil.copyfile(PACKAGE / mutant.file, path)


def measure(name: str, part: Part, n: int | None, sites: list[Path], results: Path) -> None:
    """Try the mutants of a part that have no result yet."""
    known = {result["key"] for result in stored(results)}
    todo = [mutant for mutant in drawn(part, n) if mutant.key not in known]
    if not todo:
        return
    start = time.perf_counter()
    if not passes(sites[0], part.tests, 1800.0):
        raise SystemExit(f"The tests of {name} fail on the code as it is: {' '.join(part.tests)}")
    limit = 60.0 + 5.0 * (time.perf_counter() - start)
    free: SimpleQueue[Path] = SimpleQueue()
    for site in sites:
        free.put(site)

    def attempt(mutant: Mutant) -> None:
        site = free.get()
        try:
            found = killed(site, mutant, part.tests, limit)
        finally:
            free.put(site)
        store(results, [{"part": name, "key": mutant.key, **mutant._asdict(), "killed": found}])
        print(f"{name}: {mutant.file}:{mutant.line} {mutant.operator}: {'killed' if found else 'SURVIVED'}", flush=True)

    with ThreadPoolExecutor(len(sites)) as pool:
        list(pool.map(attempt, todo))


def page(n: int | None, results: Path) -> str:
    """Return the page: by part, how many mutants there are, were tried, and were killed; and who survived."""
    known = {result["key"]: result["killed"] for result in stored(results)}
    rows, alive, n_tried, n_killed = [], [], 0, 0
    for name, part in PARTS.items():
        tried = [mutant for mutant in drawn(part, n) if mutant.key in known]
        if not tried:
            continue
        dead = sum(known[mutant.key] for mutant in tried)
        n_tried, n_killed = n_tried + len(tried), n_killed + dead
        files, every = ", ".join(f"`{file}`" for file in part.files), len(drawn(part, None))
        rows.append(f"| {name} | {files} | {every} | {len(tried)} | {100 * dead / len(tried):.0f} |")
        alive += [mutant for mutant in tried if not known[mutant.key]]
    survivors = "\n".join(f"- `{one.file}`, line {one.line}: {one.operator}" for one in sorted(alive)) or "None."
    return (
        "# Mutants of the core\n\nWritten by `make mutants`. Cosmic Ray changes one operator, number or condition at a "
        "time; the tests named in `benchmarks/mutation.py` must then fail. Mutants are drawn by a seed.\n\n"
        "| part | files | mutants | tried | killed, % |\n|---|---|---|---|---|\n" + "\n".join(rows) + "\n\n"
        f"Together {n_killed} of {n_tried}: {100 * n_killed / max(n_tried, 1):.0f} % (target: at least {TARGET:.0f}).\n"
        f"\n## Survivors\n\n{survivors}\n"
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--parts", nargs="+", choices=list(PARTS), default=list(PARTS))
    parser.add_argument("--sample", type=int, default=60, help="mutants of each part; 0: all")
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--out", type=Path, default=ROOT / "docs" / "mutants.md")
    arguments = parser.parse_args()
    folder, n = ROOT / "results" / "mutants", arguments.sample or None
    sites = [folder / f"site{job}" for job in range(arguments.jobs)]
    for site in sites:
        shutil.rmtree(site, ignore_errors=True)
        shutil.copytree(PACKAGE, site / "sslart")
    for name in arguments.parts:
        measure(name, PARTS[name], n, sites, folder / "results.jsonl")
    arguments.out.write_text(page(n, folder / "results.jsonl"), encoding="utf-8")
    print(arguments.out.read_text(encoding="utf-8"))


if __name__ == "__main__":
    main()
