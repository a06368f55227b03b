"""Mutation testing of the statistical core: `make mutants` writes docs/mutants.md.

Cosmic Ray changes one operator, number or condition of a file at a time; the tests that are named beside the file must
then fail. Drawn are `--sample` mutants of each part by `--seed`, tried for at most `--minutes`. Results are kept in
results/mutants, so that a stopped run continues; what survived is tried again once the tests of its part have changed.
Not drawn are mutants that nobody could tell from the code: in annotations, docstrings, raised errors and `strict=True`,
`is` for `==`, and numbers above ten, which are tuned and as good one higher. Each job mutates a copy of the installed
package that comes first on its path; the run stops where an editable install comes before it.
"""

from __future__ import annotations

import argparse
import ast
import hashlib
import math
import os
import random
import re
import shutil
import subprocess
import sys
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from queue import SimpleQueue
from typing import Any, NamedTuple

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
        tuple(
            f"{TESTS}/test_{name}.py"
            for name in ("candidates", "specification", "selection", "screening", "honest_choice")
        ),
    ),
    "ridge": Part(
        (f"{EVIDENCE}/basis.py",),
        (
            *(
                f"{TESTS}/test_{name}.py"
                for name in ("ridge", "saved_solutions", "bases", "specification", "selection")
            ),
            f"{TESTS}/test_many_classes.py::test_left_out_predictions_are_those_of_a_model_that_never_had_the_labels",
        ),
    ),
    "calibration": Part(
        (f"{EVIDENCE}/readout.py",),
        tuple(f"{TESTS}/test_{name}.py" for name in ("readout", "score_parts", "saved_solutions", "selection")),
    ),
    "guarantees": Part(
        ("_mapping/conformal.py",), ("tests/_mapping/test_conformal.py", "tests/estimators/test_guarantees.py")
    ),
    "rules": Part(
        ("rules/_tree.py", "rules/_model_extraction.py"),
        ("tests/rules/test_model_extraction.py", "tests/rules/test_tree.py", "tests/rules/test_model_rules.py"),
    ),
    "counterfactuals": Part(
        ("explain/_search.py", "explain/_options.py", "explain/_relations.py"),
        tuple(
            f"tests/explain/test_{name}.py"
            for name in ("relations", "options", "search", "counterfactual", "counterfactual_engine")
        ),
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

SURVIVOR = re.compile(r"^- `(.*?)`, line (\d+): `(.*)`\\\n  (.*)$", re.MULTILINE)

# survivors that change no result, by file and changed line, each with the reason
ONLY_MEMORY = "An array is copied that nobody needs any more: only memory changes."
ONLY_SPEED = "Only how much is done at once, or by how many threads; results are the same."
NEGATIVE_LENGTH = "NumPy infers a length from any negative number."
ONLY_RULES = "A rule is only for a leaf where it saves errors."
ROUNDING = "`EXACT` allows for rounding: no error and no level lie exactly that far apart."
EQUIVALENT_LINES = {  # by how the changed line begins, in any file
    "threads = n_threads(": ONLY_SPEED,
    "@dataclass(frozen=False": "Nothing assigns to its fields.",
    "@dataclass(frozen=True, eq=True": "Nothing compares two of them.",
}
EQUIVALENT = {
    "_mapping/evidence/selection.py: if fit.without is None and n_views > 2:": "There are 1 or 41 views.",
    "_mapping/evidence/basis.py: turned = Cholesky(whole[:, rows[:, :, None], rows[:, None, :]], overwrite=False)"
    ".solve(of_block)": ONLY_MEMORY,
    "_mapping/evidence/basis.py: left_out[own] = Cholesky(inner, overwrite=False).solve(left_out[own])": ONLY_MEMORY,
    "_mapping/evidence/basis.py: for some in _at_once(ridges, max(self._gram.size, len(blocks) / "
    "self._targets.size)):": ONLY_SPEED,
    "_mapping/evidence/basis.py: inner[:, inside[:, group[:, 1]]] = np.eye(group.shape[1])": (
        "A group lies in a block as a whole, so that each of its labels tells which."
    ),
    '_mapping/evidence/basis.py: return self._mean(np.einsum("ij,ij->i", self.matrix, self.matrix)) or 2.0': (
        "Functions that are zero everywhere are zero on any scale."
    ),
    "_mapping/evidence/readout.py: scorer.contributions(nothing, columns, np.empty((1, n_columns, n_classes)), "
    "of_graph[:1], 2, stop_flag())": ONLY_SPEED,
    "_mapping/evidence/readout.py: threads = n_threads(n_jobs, coded.size * max(len(self.nodes), 2) * "
    "max(len(self.terms), 1))": ONLY_SPEED,
    '_mapping/evidence/readout.py: groups = LabelGroups(saved_array(state, "groups", np.int64, n, low=0, high=n - 0), '
    'state["kind"])': "A group of that number is refused by the next check.",
    "_mapping/conformal.py: @dataclass(frozen=False, eq=False)": "Nothing assigns to its fields.",
    "_mapping/conformal.py: suffices = np.flatnonzero(self.error < level + EXACT)": ROUNDING,
    "_mapping/conformal.py: new = np.diff(places, prepend=- 2) > 0": "The first place is above either number.",
    "rules/_tree.py: if split.gain <= present + MIN_DIFFERENCE / (1 + abs(present)):": (
        "`MIN_DIFFERENCE` allows for rounding: gains that differ at all differ by more."
    ),
    "rules/_tree.py: by_bin: FloatArray = np.asarray(counted.reshape(- 2, self.n_outcomes), dtype=np.float64)": (
        NEGATIVE_LENGTH
    ),
    "rules/_tree.py: NO_SPLIT = Split(0.0, - 2, np.empty(0, dtype=bool))": "Its column is not read.",
    "rules/_tree.py: NO_SPLIT = Split(0.0, - 0, np.empty(0, dtype=bool))": "Its column is not read.",
    'rules/_model_extraction.py: return n_rules or 1, check_whole("rules", "max_conditions", n_conditions) or 0': (
        "It is 1 or more."
    ),
    "rules/_model_extraction.py: encoder, n, n_classes = view.members[ -1].encoder, len(table), len(view.classes)": (
        "All members have the same columns."
    ),
    'explain/_options.py: why_not[column], values[column] = "no other value", found[: -1]': "It has one value at most.",
    "explain/_search.py: expected = (alone.start[:, None] + together[:, one] + together[:, other]).reshape(len(rows), "
    "- 2)": NEGATIVE_LENGTH,
    "explain/_search.py: candidates = np.full((*ends[ 1].shape, self.n_columns), STAY)": "The ends are of one shape.",
    "rules/_tree.py: if split.gain < present + MIN_DIFFERENCE * (1 + abs(present)):": (
        "`MIN_DIFFERENCE` allows for rounding: gains that differ at all differ by more."
    ),
    "rules/_tree.py: if both[place] <= errors[n_rules] - MIN_DIFFERENCE:": (
        "`MIN_DIFFERENCE` allows for rounding: errors that differ at all differ by more."
    ),
    "rules/_tree.py: is_default = n_rules == 0 or weights[default] > weights.max() - MIN_DIFFERENCE": ONLY_RULES,
    "rules/_tree.py: is_default = n_rules == 0 or weights[default] >= weights.max() + MIN_DIFFERENCE": ONLY_RULES,
    "rules/_tree.py: left = np.maximum(cumulated - before[self.column_of], -1.0)": "Only rounding leads below 0.",
    "rules/_tree.py: return np.where(enough, float(_information(total)) - _information(left) - _information(right), "
    "-1.0)": "Only gains above 0 are chosen.",
    'rules/_tree.py: order = present[np.argsort(by_bin[present, outcome] / weight[present], kind="stable")]': (
        "The two sides change places."
    ),
    "rules/_tree.py: _, default, n_rules, best = min(choices, key=lambda choice: choice[: 1])": (
        "Choices are in the order of outcomes."
    ),
    'rules/_model_extraction.py: return n_rules or 2, check_whole("rules", "max_conditions", n_conditions) or 1': (
        "It is 1 or more."
    ),
    "rules/_model_extraction.py: encoder = view.members[ -1].encoder": "All members have the same columns.",
    "rules/_model_extraction.py: units = np.where(unreached, np.nan, encoder.decode(np.where(unreached, -1.0, "
    "coded)))": "What is not reached is NaN.",
    "rules/_model_extraction.py: taken = np.where(way >= 0.5, values[second], values[first])": (
        "No random number is exactly 0.5."
    ),
    "rules/_model_extraction.py: known = np.flatnonzero(allowed[:- 2])": "The last range is not allowed there.",
    "rules/_model_extraction.py: for ends in ((0, known[-1] + 1), (known[ -1], len(allowed) - 1)):": (
        "The ranges between are allowed already."
    ),
    "explain/_relations.py: values = constant + slope * (np.log(bases[ -1]) if log_x else bases[0])": (
        "There is one base."
    ),
    "explain/_options.py: unit = int(np.gcd.reduce(whole.astype(np.int64))) if abs(whole).max(initial=0.0) < "
    "2.0**53 else 0": "At least 1 is taken.",
    "explain/_search.py: before = np.where(first > starts[some], steps[order[np.maximum(first - 1, 0)]], -1)": (
        "Only which step is tried next; the nearest is found all the same."
    ),
    "explain/_options.py: shape = len(self.values), max(int(self.sizes.max(initial=0)), 2)": "Padding is not read.",
    "explain/_search.py: return view.members[ -1].network.get_or_compute((*key, costs), made)": (
        "Only where the effects are kept."
    ),
    "explain/_search.py: limit = limit + np.where(limit <= 0.5, 0.1, -0.1) # to the far side of it, so that both "
    "ends come near": "Only which step is tried next; the nearest is found all the same.",
    "explain/_search.py: parts.append(self._towards(number, rows[own], coded[own], nodes, against[:, -1]))": (
        "There is one box in each row of `against`."
    ),
    "explain/_search.py: candidates = np.full((*ends[ -1].shape, self.n_columns), STAY)": (
        "The ends are of one shape."
    ),
    "explain/_search.py: for index in np.flatnonzero((start >= NEVER).any(axis=0)).tolist():": (
        "What is found for a class that nobody wants is taken back below."
    ),
}


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
        from cosmic_ray.mutating import mutate_code
        from cosmic_ray.plugins import get_operator

        operator = get_operator(f"core/{self.operator}")()
        changed = mutate_code((PACKAGE / self.file).read_text(encoding="utf-8"), operator, self.occurrence)
        assert changed is not None
        return str(changed)

    @property
    def is_check(self) -> bool:
        """True if only a check that lengths agree is left out."""
        line = (PACKAGE / self.file).read_text(encoding="utf-8").splitlines()[self.line - 1]
        return self.operator == "ReplaceTrueWithFalse" and "strict=True" in line

    @property
    def changed_line(self) -> str:
        """The first line that is not as in the file."""
        before = (PACKAGE / self.file).read_text(encoding="utf-8").splitlines()
        lines = zip(before, self.code().splitlines(), strict=False)
        return next(" ".join(after.split()) for line, after in lines if line != after)

    @property
    def place(self) -> str:
        """The file and the changed line, by which equivalent mutants are named."""
        return f"{self.file}: {self.changed_line}"

    @property
    def why_equivalent(self) -> str:
        """The reason why it changes no result; empty where it may."""
        of_line = (why for start, why in EQUIVALENT_LINES.items() if self.changed_line.startswith(start))
        return EQUIVALENT.get(self.place) or next(of_line, "")

    @property
    def is_equivalent(self) -> bool:
        """True if somebody has found that it changes no result."""
        return bool(self.why_equivalent)


def inert_lines(source: str) -> set[int]:
    """Return the lines of docstrings, annotations, imports and raised errors."""
    lines: set[int] = set()
    for node in ast.walk(ast.parse(source)):
        inert: list[Any] = []
        if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant):
            inert = [node]
        if isinstance(node, ast.If) and ast.unparse(node.test) == "TYPE_CHECKING":
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
    from cosmic_ray.ast import ast_nodes, get_ast
    from cosmic_ray.plugins import get_operator

    source = (PACKAGE / file).read_text(encoding="utf-8")
    tree, inert = get_ast(source), inert_lines(source)
    for name in OPERATORS:
        operator = get_operator(f"core/{name}")()
        places = ((node, start) for node in ast_nodes(tree) for start, _ in operator.mutation_positions(node))
        for occurrence, (node, (line, _)) in enumerate(places):
            is_tuned = name == "NumberReplacer" and float(node.value.replace("_", "")) > MOST_CHANGED
            if line not in inert and not is_tuned:
                yield Mutant(file, name, occurrence, line)


def shuffled(part: Part, seed: int) -> list[Mutant]:
    """Return all mutants of a part in the order in which they are drawn, without regard to the operators."""
    every = [mutant for file in part.files for mutant in mutants_of(file)]
    random.Random(seed).shuffle(every)
    return [mutant for mutant in every if not mutant.is_check]


def environment_of(site: Path) -> dict[str, str]:
    """Return the environment in which a copy of the package is imported."""
    return {**os.environ, "PYTHONPATH": str(site), "OPENBLAS_NUM_THREADS": "1", "PYTHONDONTWRITEBYTECODE": "1"}


def copied(site: Path) -> None:
    """Copy the package, and make sure that the copy is what is imported."""
    shutil.rmtree(site, ignore_errors=True)
    shutil.copytree(PACKAGE, site / "sslart")
    program = [sys.executable, "-c", "import sslart; print(sslart.__file__)"]
    found = subprocess.check_output(program, env=environment_of(site), cwd=ROOT / "tests", text=True)
    if not Path(found.strip()).is_relative_to(site):
        raise SystemExit(f"{found.strip()} is imported in place of the copy in {site}: install sslart, not editable.")


def passes(site: Path, tests: tuple[str, ...], seconds: float, *, keep_compiled: bool = False) -> bool:
    """Return True if the tests pass on a copy of the package; what is compiled may be kept for other runs."""
    command = [sys.executable, "-m", "pytest", "-x", "-q", "-p", "no:cacheprovider", "-m", "not slow and not stress"]
    where = [str(ROOT / test) for test in tests]
    try:
        done = subprocess.run(
            [*command, "-c", str(ROOT / "pyproject.toml"), "--rootdir", str(ROOT), *where],
            cwd=ROOT / "tests",
            env=environment_of(site) | ({"PYTHONDONTWRITEBYTECODE": ""} if keep_compiled else {}),
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


def digest(tests: tuple[str, ...]) -> str:
    """Return a digest of tests: what survived others may not survive these."""
    return hashlib.sha256(b"".join((ROOT / test.split("::")[0]).read_bytes() for test in tests)).hexdigest()[:16]


def measure(name: str, part: Part, sample: list[Mutant], sites: list[Path], results: Path, minutes: float) -> None:
    """Try the mutants of a part that have no result yet, and what survived other tests; start none after `minutes`."""
    tests, found = digest(part.tests), {result["key"]: result for result in stored(results)}
    last = [(mutant, found.get(mutant.key)) for mutant in sample]
    is_known = [one and (one["killed"] or one["tests"] == tests or mutant.is_equivalent) for mutant, one in last]
    todo = [mutant for mutant, is_done in zip(sample, is_known, strict=True) if not is_done]
    if not todo or minutes <= 0:
        return
    start = time.perf_counter()
    if not passes(sites[0], part.tests, 1800.0, keep_compiled=True):
        raise SystemExit(f"The tests of {name} fail on the code as it is: {' '.join(part.tests)}")
    limit = 20.0 + 4.0 * (time.perf_counter() - start)
    free: SimpleQueue[Path] = SimpleQueue()
    for site in sites:
        free.put(site)

    def attempt(mutant: Mutant) -> None:
        if time.perf_counter() - start > 60.0 * minutes:
            return
        site = free.get()
        try:
            found = killed(site, mutant, part.tests, limit)
        finally:
            free.put(site)
        store(results, [{"part": name, "key": mutant.key, **mutant._asdict(), "killed": found, "tests": tests}])
        print(f"{name}: {mutant.file}:{mutant.line} {mutant.operator}: {'killed' if found else 'SURVIVED'}", flush=True)

    with ThreadPoolExecutor(len(sites)) as pool:
        list(pool.map(attempt, todo))


def page(samples: dict[str, list[Mutant]], seed: int, results: Path, before: str = "") -> str:
    """Return the page: by part and draw, how many mutants there are, were tried, and were killed; and which survived.

    Rows of other draws, and of parts that were not tried, stay as they are on the page `before`, as do their survivors.
    """
    known = {result["key"]: result["killed"] for result in stored(results)}
    cells = [[cell.strip() for cell in line.split("|")[1:-1]] for line in before.splitlines() if line.startswith("| ")]
    rows = {(row[0], row[2]): row for row in cells if row[0] in PARTS}
    alive = set(SURVIVOR.findall(before))
    for name, part in PARTS.items():
        tried = [mutant for mutant in samples[name] if mutant.key in known]
        if not tried:
            continue
        survived = [mutant for mutant in tried if not known[mutant.key]]
        same = sum(mutant.is_equivalent for mutant in survived)
        dead, every = len(tried) - len(survived), len(shuffled(part, seed))
        counts = [str(count) for count in (seed, every, len(tried), dead, same)]
        shares = [f"{100 * dead / len(tried):.0f}", f"{100 * dead / (len(tried) - same):.0f}"]
        rows[name, str(seed)] = [name, ", ".join(f"`{file}`" for file in part.files), *counts, *shares]
        drawn = {(mutant.file, str(mutant.line), mutant.changed_line) for mutant in tried}
        alive = {one for one in alive if one[:3] not in drawn}
        why = "No test notices it yet."
        alive |= {(one.file, str(one.line), one.changed_line, one.why_equivalent or why) for one in survived}
    order = sorted(rows.values(), key=lambda row: (list(PARTS).index(row[0]), int(row[2])))
    n_tried, n_killed, n_same = (sum(int(row[place]) for row in order) for place in (4, 5, 6))
    ordered = sorted(alive, key=lambda one: (one[0], int(one[1]), one[2]))
    survivors = "".join(f"- `{file}`, line {line}: `{changed}`\\\n  {why}\n" for file, line, changed, why in ordered)
    return (
        "# Mutants of the core\n\nWritten by `make mutants`. Cosmic Ray changes one operator, number or condition at a "
        "time; one of the tests that `benchmarks/mutation.py` names for the part must then fail. Mutants are random "
        "samples, each with the seed of its draw, of those that can be told from the code; a run replaces the rows of "
        "its own draws alone. A mutant is equivalent if "
        "somebody has read it and found that it changes no result; the reason is below. Target: at least "
        f"{TARGET:.0f} % killed in each part.\n\n"
        "| part | files | seed | mutants | tried | killed | equivalent | killed, % | killed, % of those not equivalent "
        "|\n"
        "|---|---|---|---|---|---|---|---|---|\n" + "".join(f"| {' | '.join(row)} |\n" for row in order) + "\n"
        f"Together {n_killed} of {n_tried} were killed, {n_same} are equivalent, and {n_tried - n_killed - n_same} "
        f"survived.\n\n## Survivors\n\n{survivors or 'None.'}"
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--parts", nargs="+", choices=list(PARTS), default=list(PARTS), help="parts to measure")
    parser.add_argument("--sample", type=int, default=60, help="mutants of each part; 0: all")
    parser.add_argument("--seed", type=int, default=0, help="of the draw")
    parser.add_argument(
        "--minutes", type=float, default=math.inf, help="for all parts together; 0: only write the page"
    )
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--out", type=Path, default=ROOT / "docs" / "mutants.md")
    arguments = parser.parse_args()
    start, folder = time.perf_counter(), ROOT / "results" / "mutants"
    samples = {name: shuffled(part, arguments.seed)[: arguments.sample or None] for name, part in PARTS.items()}
    sites = [folder / f"site{job}" for job in range(arguments.jobs)]
    for site in sites:
        copied(site)
    for i, name in enumerate(arguments.parts):  # what a part leaves of its time is for those that follow
        minutes = (arguments.minutes - (time.perf_counter() - start) / 60.0) / (len(arguments.parts) - i)
        measure(name, PARTS[name], samples[name], sites, folder / "results.jsonl", minutes)
    before = arguments.out.read_text(encoding="utf-8") if arguments.out.exists() else ""
    arguments.out.write_text(page(samples, arguments.seed, folder / "results.jsonl", before), encoding="utf-8")
    print(arguments.out.read_text(encoding="utf-8"))


if __name__ == "__main__":
    main()
