"""The page docs/trust.md: every figure is computed from the stored results."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence

from machine import description
from sslart._utils.text import markdown_table
from trust import draws, guarantees, limits, novelty, sections
from trust.figures import LIMIT, Result, at, by_set
from trust.sections import Findings, Row
from trust.simulations import CHANGES, COPIES, N_LABELS, PLAIN, RIVALS

TEXTS: dict[str, Callable[[Findings], str]] = {
    "accuracy": sections.accuracy,
    "noise": sections.noise,
    "copies": sections.copies,
    "guarantees": guarantees.guarantees,
    "limits": limits.limits,
    "novelty": novelty.novelty,
    "changes": sections.changes,
}
ROWS: dict[str, Callable[[Findings], list[Row]]] = {
    "accuracy": sections.accuracy_rows,
    "noise": sections.noise_rows,
    "copies": sections.copies_rows,
    "guarantees": guarantees.guarantees_rows,
    "limits": limits.limits_rows,
    "novelty": novelty.novelty_rows,
}


OF_CHANGES = re.compile(r"(in bold, what is not held:\n\n)(?:\|.*\n)+")  # the table of changes at the top


def table(rows: Sequence[Row]) -> str:
    cells = [[promise, found, "yes" if held else "**no**"] for promise, found, held in rows]
    return markdown_table(["promise", "found", "held"], cells)


def with_sections(text: str, results: Sequence[Result], names: Sequence[str], label: str) -> str:
    """Return a page in which some sections, and their rows of the first table, are new."""
    findings = Findings(results)
    for name in names:
        heading, new = TEXTS[name](findings).split("\n\n", maxsplit=1)
        old = re.compile(rf"{re.escape(heading)}\n.*?(?=\n## |\Z)", re.DOTALL)
        new = f"{heading}\n\nMeasured after the other sections, with version `{label}`. {new}\n"
        text = old.sub(lambda _, new=new: new, text) if old.search(text) else f"{text}\n{new}"
        if name == "changes":
            of_changes = f"{sections.changes_table(findings)}\n"
            text = OF_CHANGES.sub(lambda found, table=of_changes: found[1] + table, text)
        rows = ROWS[name](findings) if name in ROWS else []
        promises = tuple(f"| {promise} |" for promise, *_ in rows)
        lines = [line for line in text.split("\n") if not line.startswith(promises)]
        first = next(at for at, line in enumerate(lines) if line.startswith("|"))
        end = lines.index("", first)
        text = "\n".join([*lines[:end], *table(rows).split("\n")[2:], *lines[end:]])
    return text


def _n_repeats(findings: Findings, *simulations: str) -> int:
    return 1 + max((one["repeat"] for name in simulations for one in findings.of(name)), default=-1)


def page(results: Sequence[Result], names: Sequence[str], label: str, further: Sequence[str] = ()) -> str:
    """Return the page, or these sections of it; `further` ones come at its end."""
    findings = Findings(results)
    rows = [row for name, rows_of in ROWS.items() if name in names for row in rows_of(findings)]
    text = (
        "# What models promise, and what is found\n\n"
        "Models print their own accuracy, sets of classes, limits of errors and thresholds. This page compares all of "
        f"it with samples that the models have not seen. Written by `make trust`; `AutoSSLART`, version `{label}`. "
        f"{description(*(['mapie'] if 'guarantees' in names else []))}.\n\n"
    )
    if rows:
        text += table(rows) + "\n\n"
    if "changes" in names:
        text += (
            "Promises are for samples like the labelled ones. Where samples or labels are not as they were, promises "
            "fail; in bold, what is not held:\n\n" + sections.changes_table(findings) + "\n\n"
        )
    n_sets = len(by_set(findings.of(PLAIN), at("accuracy")))
    text += (
        f"## How it is measured\n\nThe sets of [`make accuracy`](accuracy.md){f' ({n_sets})' if n_sets else ''}. From "
        f"each, a third of the rows, at most {draws.MAX_TRAINING:,}, is for training; of these "
        f"{', '.join(map(str, N_LABELS[:-1]))} or {N_LABELS[-1]}, drawn at random, have a label, if the set has "
        f"{draws.ROWS_PER_LABEL} rows for each label or more. The other rows, at most {draws.MAX_TEST:,}, are the "
        f"test: at least four for each label. Repetitions: {_n_repeats(findings, PLAIN)}; of copies and "
        f"changes {_n_repeats(findings, *COPIES, *CHANGES)}, of MAPIE {_n_repeats(findings, *RIVALS)}. Means are over "
        "sets, each of which counts once; after ± the standard error over the sets. *Held*: what is found is as "
        f"promised; where a standard error of coverage, error or false alarms is given, but for {LIMIT:g} of these.\n\n"
    )
    text += "\n\n".join(text_of(findings) for name, text_of in TEXTS.items() if name in names) + "\n"
    return "\n".join([text, *further])
