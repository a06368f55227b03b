"""Ranks of methods: on one data set, and as wins, ties and losses over pairs of methods."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import numpy as np

from reproduction import paper
from reproduction.framework.compare import RANKED_AS
from reproduction.framework.experiment import Check, Results, Table
from reproduction.framework.protocol import VIGILANCES
from reproduction.methods import models as _models
from sslart import metrics

Scores = dict[str, list[float]]  # from a method to its mean accuracy on each data set


def measured_competitors(results: Results, table: str, datasets: Iterable[str]) -> Scores:
    """Return the accuracies measured here of the methods that a table of the paper compares with ours."""
    datasets = list(datasets)
    theirs = dict.fromkeys(one.method for one in paper.printed(table, measure="accuracy"))
    return {
        RANKED_AS[name]: [results.mean(data, RANKED_AS[name], "accuracy") for data in datasets]
        for name in theirs
        if name in RANKED_AS and results.summary_exists(RANKED_AS[name], None)
    }


def rank_check(results: Results, table: str, dataset: str, place: int, line: int) -> Check:
    """Check the rank of WESSL-ART on a data set: at least `place`, at either vigilance.

    It counts among the paper's competitors that were run here in the same splits where they all were, else among
    their printed figures; the evidence has both.
    """
    quoted = {
        one.method: one.mean
        for one in paper.printed(table, dataset=dataset, measure="accuracy")
        if one.method not in _models.VOTINGS and one.mean is not None
    }
    run = {name: means[0] for name, means in measured_competitors(results, table, [dataset]).items()}
    run = {name: mean for name, mean in run.items() if not np.isnan(mean)}
    decisive, parts = [], []
    for rho in VIGILANCES:
        ours, majority = (results.mean(dataset, vote, "accuracy", rho) for vote in _models.VOTINGS)
        if np.isnan(ours):
            continue
        among_run, among_quoted = (rank(ours, [majority, *others.values()]) for others in (run, quoted))
        decisive.append(among_run if len(run) == len(quoted) else among_quoted)
        here = f"{among_run} of {len(run) + 2} run here, " if run else ""
        parts.append(f"rank {here}{among_quoted} of {len(quoted) + 2} with printed figures of the others, at ρ={rho:g}")
    wanted = "the most accurate method" if place == 1 else f"number {place} in accuracy"
    return Check(f"{dataset}: WESSL-ART is {wanted}", min(decisive, default=place + 1) <= place, "; ".join(parts), line)


def rank(ours: float, others: Iterable[float]) -> int:
    """Return the rank of a score among others: one more than there are higher ones."""
    return 1 + sum(other > ours for other in others)


def scores_of_all(results: Results, datasets: Sequence[str], names: Sequence[str]) -> Scores:
    """Return the accuracies of our ensembles at both vigilances, of AutoSSLART, and of all competitors run here."""
    columns: Scores = {}
    for rho in VIGILANCES:
        for name in names:
            columns[f"{name}, ρ={rho:g}"] = [results.mean(data, name, "accuracy", rho) for data in datasets]
    found = _models.EVIDENCE, "accuracy", _models.EVIDENCE_VIGILANCE
    columns[_models.EVIDENCE] = [results.mean(data, *found) for data in datasets]
    for name in results.distinct("method"):
        if results.summary_exists(name, None):
            columns[name] = [results.mean(data, name, "accuracy") for data in datasets]
    return columns


def pair_table(results: Results, datasets: Sequence[str], names: Sequence[str]) -> Table:
    """Return on how many data sets each of ours wins, ties and loses against every other method."""
    columns = scores_of_all(results, datasets, names)
    ours = [name for name in columns if results.summary_exists(name.split(", ρ=")[0], VIGILANCES[0])]
    rows = []
    for other, theirs in columns.items():
        cells = []
        for name in ours:
            won = metrics.win_tie_loss({"ours": columns[name], "theirs": theirs})["ours"]
            cells.append("" if name == other else f"{won.wins}–{won.ties}–{won.losses}")
        rows.append([other, *cells])
    return Table(
        "Data sets on which the method of the column wins, ties and loses against that of the row",
        ["against", *ours],
        rows,
    )


def total_table(results: Results, datasets: Sequence[str], names: Sequence[str]) -> Table:
    """Return the wins, ties and losses of every method over all pairs and data sets."""
    counts = metrics.win_tie_loss(scores_of_all(results, datasets, names))
    rows = [[name, str(one.wins), str(one.ties), str(one.losses)] for name, one in counts.items()]
    rows.sort(key=lambda row: -int(row[1]))
    return Table("Wins, ties and losses, all pairs of what was run here", ["method", "wins", "ties", "losses"], rows)


def total_check(results: Results, table: str, datasets: Sequence[str], rho: float, line: int) -> Check:
    """Check that WESSL-ART wins most often of the methods of a table, and VESSL-ART second most."""
    scores = {vote: [results.mean(data, vote, "accuracy", rho) for data in datasets] for vote in _models.VOTINGS}
    counts = metrics.win_tie_loss({**scores, **measured_competitors(results, table, datasets)})
    order = sorted(counts, key=lambda name: -counts[name].wins)
    text = ", ".join(f"{name} ({counts[name].wins},{counts[name].ties},{counts[name].losses})" for name in order)
    return Check(
        f"over all pairs WESSL-ART wins most often, VESSL-ART second most (printed: 64 and 53 of 70), ρ={rho:g}",
        order[:2] == list(_models.VOTINGS),
        f"wins, ties and losses of what was run here: {text}",
        line,
    )
