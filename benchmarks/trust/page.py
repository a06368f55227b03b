"""The page docs/trust.md: every figure is computed from the stored results."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from machine import description
from sslart._utils.tables import markdown_table
from trust import draws, guarantees, novelty, sections
from trust.figures import LIMIT, Result, at, by_set
from trust.sections import Findings, Row
from trust.simulations import N_LABELS, N_REPEATS, PLAIN

PARTS: dict[str, tuple[Callable[[Findings], str], Callable[[Findings], list[Row]]]] = {
    "accuracy": (sections.accuracy, sections.accuracy_rows),
    "noise": (sections.noise, sections.noise_rows),
    "copies": (sections.copies, sections.copies_rows),
    "guarantees": (guarantees.guarantees, guarantees.guarantees_rows),
    "novelty": (novelty.novelty, novelty.novelty_rows),
    "changes": (sections.changes, sections.changes_rows),
}


def table(rows: Sequence[Row]) -> str:
    cells = [[promise, found, "yes" if held else "**no**"] for promise, found, held in rows]
    return markdown_table(["promise", "found", "held"], cells)


def page(results: Sequence[Result], names: Sequence[str], label: str) -> str:
    """Return the page, or these sections of it."""
    findings = Findings(results)
    wanted = [name for name in PARTS if name in names]
    kept = [row for name in wanted if name != "changes" for row in PARTS[name][1](findings)]
    broken = PARTS["changes"][1](findings) if "changes" in wanted else []
    text = (
        "# What models promise, and what is found\n\n"
        "Models print their own accuracy, sets of classes, limits of errors and thresholds. This page compares all of "
        f"it with samples that the models have not seen. Written by `make trust`; `AutoSSLART`, version `{label}`. "
        f"{description(*(['mapie'] if 'guarantees' in names else []))}.\n\n"
    )
    if kept:
        text += table(kept) + "\n\n"
    if broken:
        text += (
            "Promises are for samples like the labelled ones. Where they are not, promises fail, and no figure that a "
            "model prints shows it:\n\n" + table(broken) + "\n\n"
        )
    n_sets = len(by_set(findings.of(PLAIN), at("accuracy")))
    text += (
        f"## How it is measured\n\nThe sets of [`make accuracy`](accuracy.md){f' ({n_sets})' if n_sets else ''}. From "
        f"each, a third of the rows, at most {draws.MAX_TRAINING:,}, is for training; of these "
        f"{', '.join(map(str, N_LABELS[:-1]))} or {N_LABELS[-1]}, drawn at random, have a label, if the set has "
        f"{draws.ROWS_PER_LABEL} rows for each label or more. The other rows, at most {draws.MAX_TEST:,}, are the "
        f"test: at least four for each label. {N_REPEATS} repetitions. Means are over sets, each of which counts once; "
        "after ± the standard error over the sets. *Held*: what is found is as promised, or misses it by less than "
        f"{LIMIT:g} standard errors.\n\n"
    )
    return text + "\n\n".join(PARTS[name][0](findings) for name in wanted) + "\n"
