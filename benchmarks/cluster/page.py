"""The page of the benchmark on clusters, docs/clusters.md: every number is computed from the stored results."""

from __future__ import annotations

import math
import os
from collections.abc import Sequence
from typing import Any

import numpy as np

from cluster import covtype
from cluster.contenders import OURS
from cluster.costs import Costs
from cluster.data import HELD_OUT, N_CLASSES, N_CLUSTERS, N_FEATURES
from machine import description
from sslart._utils.text import markdown_table, plural

Result = dict[str, Any]
WORKERS = (1, 2, 4, 8, 16, 32, 64, 128, 256)
MANY_ROWS = 10**9
BOXES = {"box", "relevant", "subspace", "propagated"}  # families that boxes take part in


def page(results: Sequence[Result], command: str, label: str, n_labels: int) -> str:
    """Return the page, with the parts for which there are results."""
    fits = [one for one in results if "contender" in one]
    most = max((one["rows"] for one in fits), default=0)
    whole = [one for one in fits if one["contender"] != OURS or one["workers"] > 1]
    whole.sort(key=lambda one: one["contender"] != OURS)
    text = (
        f"# Benchmarks on clusters\n\nWritten by `{command}` in `benchmarks`; "
        "`make cluster-bench FULL=1` measures all. "
        f"{description('dask', 'distributed', 'pyarrow')}. Ours: version `{label}`.\n"
    )
    if whole:
        text += _speed(whole, n_labels)
    ours = [one for one in whole if one["contender"] == OURS and one["rows"] == most]
    if ours:
        text += _cost_model(ours[0], [one for one in fits if one["contender"] == OURS and one is not ours[0]])
    forests = [one for one in results if "one machine" in one]
    if forests:
        text += _covtype(forests)
    return text


def _speed(whole: Sequence[Result], n_labels: int) -> str:
    one = max(whole, key=lambda found: found["rows"])
    n_bytes = one["rows"] * N_FEATURES * 4
    limit = one["workers"] * one["limit_mb"] * 10**6
    rows = [
        [
            f"`{found['contender']}`" if found["contender"] == OURS else found["contender"],
            f"{found['rows']:,}",
            f"{found['seconds']:.0f}",
            f"{found['rows'] / found['seconds']:,.0f}",
            f"{found['cpu_seconds'] * 1e6 / found['rows']:,.1f}",
            " and ".join(map(str, found.get("worker_mb", []))) or "no workers",
            str(found["client_mb"]),
            f"{100 * found['accuracy']:.1f}",
        ]
        for found in whole
    ]
    head = ["", "rows", "seconds", "rows a second", "processor seconds per million rows"]
    head += ["peak memory of workers, MB", "of the client, MB", "accuracy, %"]
    fits = " So this run does not show what happens with a table larger than memory." if n_bytes <= limit else ""
    loads = [found["load"] for found in whole]
    lost = sum(found.get("workers_lost", 0) for found in whole)
    return (
        f"\n## {one['rows']:,} rows on {plural(one['workers'], 'worker process')}\n\n"
        f"{one['rows']:,} rows of {N_FEATURES} features in {one['parts']} Parquet files, "
        f"{n_bytes / 1e9:.2f} GB as numbers in memory; each worker may hold {one['limit_mb']} MB, "
        f"{limit / 1e9:.2f} GB together.{fits} Rows are drawn from {N_CLUSTERS} normal distributions, which belong to "
        f"{N_CLASSES} classes; about {n_labels:,} rows have a label. "
        f"Accuracy is that on {HELD_OUT:,} rows held out; a model that knows all distributions "
        f"has {100 * one['best']:.1f} %. Processor seconds are those of all processes, which "
        "other work on the machine does not lengthen. Peak memory is the highest resident memory of each process. "
        f"Workers that passed their limit and were restarted: {lost}. Before the runs the load average of the machine, "
        f"which has {plural(os.cpu_count() or 1, 'processor')}, was {min(loads):.1f} to {max(loads):.1f}: where other "
        "work was going on, seconds are longer than on a quiet machine.\n\n"
        + markdown_table(head, rows)
        + "\n\n`AutoSSLART.partial_fit` and `sslart update` learn one file after the other in one process. "
        "So that the benchmark ends in time they learn the first files only, and so fewer labels, and so does "
        "`SGDClassifier.partial_fit` with all labels; ours with a quarter of the files is there to compare with. "
        "`sslart update` learns the first file by `sslart fit`, and each other one by a call of its own, which starts "
        "a process. Its memory is the most of any call. "
        "`SGDClassifier.partial_fit` is the linear model of scikit-learn, one partition after the other as in "
        "dask-ml's `Incremental`, on the labelled rows alone or with the labels of all rows. The random forest is "
        "fitted on the client to the labelled rows, which the workers gather.\n"
    )


def _cost_model(found: Result, others: Sequence[Result]) -> str:
    costs = Costs.of(found, fan_in=found["fan_in"])
    n_rows, n_parts = found["rows"], found["parts"]
    checked = [
        [
            f"{one['rows']:,}",
            str(one["workers"]),
            f"{costs.seconds(one['rows'], one['parts'], one['workers']):.0f}",
            f"{one['seconds']:.0f}",
        ]
        for one in (found, *others)
    ]
    n_many = math.ceil(MANY_ROWS / (n_rows / n_parts))
    rows = []
    for n_workers in WORKERS:
        cells = [str(n_workers)]
        for n, parts in ((n_rows, n_parts), (MANY_ROWS, n_many)):
            seconds, alone = costs.seconds(n, parts, n_workers), costs.seconds(n, parts, 1)
            cells += [f"{seconds:,.0f}", f"{alone / seconds:.1f}"]
        rows.append(cells)
    per_million = 1e6
    head = ["workers"]
    for n in (n_rows, MANY_ROWS):
        head += [f"{n / 1e6:,.0f} million rows, seconds", "times as fast as one"]
    return (
        "\n## What a fit costs, on paper\n\n"
        "A table is read twice, each partition by one worker, and boxes are joined by a tree:\n\n"
        "T(n, w) = (l + s + b) · n / w + Σ over levels ⌈merges of the level / w⌉ · m + r\n\n"
        + markdown_table(
            ["", "what it is", "measured"],
            [
                ["l", "loading the files, twice", f"{costs.read * per_million:.2f} s per million rows"],
                ["s", "first pass: ranges, categories, classes", f"{costs.scan * per_million:.2f} s per million rows"],
                ["b", "second pass: boxes", f"{costs.learn * per_million:.2f} s per million rows"],
                ["m", f"one merge of {costs.fan_in} results", f"{costs.merge:.2f} s"],
                ["r", "gathering, and evidence on the client", f"{costs.rest:.1f} s"],
            ],
        )
        + f"\n\nThe constants are those of the run with {n_rows:,} rows and "
        f"{plural(found['workers'], 'worker')}; for each run, what they give and what was measured:\n\n"
        + markdown_table(["rows", "workers", "by the formula, s", "measured, s"], checked)
        + "\n\nThe serial part is one merge per level of the tree and r. A result has at most `max_nodes` boxes and "
        "`max_labels` labels, so that neither m nor r grows with the rows; the levels of the tree grow with the "
        f"logarithm of the partitions. For {n_rows:,} rows in {n_parts} partitions it is "
        f"{costs.serial(n_parts):.0f} s, so that past {costs.workers_at_half(n_rows, n_parts)} workers more than half "
        f"of the time is serial; for {MANY_ROWS:,} rows in {n_many} partitions of the same size, past "
        f"{costs.workers_at_half(MANY_ROWS, n_many)} workers. By the formula, not measured, on workers like these and "
        "with storage that delivers as fast to all of them:\n\n" + markdown_table(head, rows) + "\n"
    )


def _covtype(found: Sequence[Result]) -> str:
    rows, without_boxes = [], []
    for name in covtype.MODELS:
        own = [one for one in found if one["model"] == name]
        if not own:
            continue
        alone, again, spread = (
            100 * np.array([one[where] for one in own]) for where in ("one machine", "another order", "cluster")
        )
        differences = spread - alone
        rows.append(
            [
                name,
                f"{alone.mean():.2f}",
                f"{again.mean():.2f}",
                f"{spread.mean():.2f}",
                f"{differences.mean():+.2f}",
                f"{differences.min():+.2f} to {differences.max():+.2f}",
                f"{100 * np.mean([one['differ'] for one in own]):.1f}",
            ]
        )
        n_without = sum(bool(one["families"]) and not BOXES & set(one["families"]) for one in own)
        if n_without:
            without_boxes.append(f"{name} for {n_without} of {plural(len(own), 'seed')}")
    head = [
        "model",
        "one machine",
        "in another order",
        "cluster",
        "difference",
        "by seed",
        "predictions that differ, %",
    ]
    n_seeds = len({one["seed"] for one in found})
    text = (
        "\n## Forest cover types: a cluster against one machine\n\n"
        f"covtype, {found[0]['rows']:,} rows of 54 features in the order of the file, {covtype.N_LABELS:,} of them "
        f"with a label, in {covtype.N_PARTS} partitions. Accuracy in % on rows held out, mean over "
        f"{plural(n_seeds, 'seed')}, which draw labels and held-out rows. The difference is that of cluster and one "
        "machine. In another order: one machine again, with another `random_state`, which shows how much chance there "
        "is in one fit.\n\n" + markdown_table(head, rows) + "\n"
    )
    if without_boxes:
        text += (
            f"\nLeave-one-out chose evidence without boxes in {' and '.join(without_boxes)}. Such evidence is computed "
            "from the labelled rows, which a cluster gathers, so that these fits show nothing about merged boxes; the "
            "other models do.\n"
        )
    return text
