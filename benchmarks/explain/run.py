"""Measure explanations and write docs/explain_benchmarks.md: `make explain-bench`."""

from __future__ import annotations

import argparse
import time
from collections.abc import Sequence
from pathlib import Path

from accuracy.sets import ORDER, UCI
from explain import counterfactuals, rules, speed
from explain.quality import MAX_COLUMNS, MAX_ROWS, N_MEMBERS, Quality, quality
from machine import description
from sslart._utils.text import markdown_table

ROOT = Path(__file__).parents[2]
QUICK_ROWS = 50


def summary(found: Sequence[Quality], timings: Sequence[speed.Timing]) -> str:
    """Return the table of what must be reached."""
    slowest = max(timings, key=lambda one: one.explain)
    closest = min(timings, key=lambda one: one.kernel_explainer)
    single = max(found, key=lambda one: one.incomplete)
    together = max((one for one in found if one.incomplete_ensemble is not None), key=lambda o: o.incomplete_ensemble)
    subsets = [one for one in found if one.from_subsets is not None]
    exact = max(subsets, key=lambda one: one.from_subsets)
    signs = min(found, key=lambda one: one.right_sign)
    rows = [
        [
            f"largest difference between the sum of the contributions and the score, {len(found)} data sets",
            f"{single.incomplete:.1e} ({single.dataset})",
            "1e-5",
        ],
        [
            f"the same for ensembles of {N_MEMBERS} members",
            f"{together.incomplete_ensemble:.1e} ({together.dataset})",
            "1e-5",
        ],
        [
            f"largest difference from Shapley values by all subsets, {len(subsets)} data sets of at most {MAX_COLUMNS} "
            "features",
            f"{exact.from_subsets:.1e} ({exact.dataset})",
            "1e-9",
        ],
        [
            "rows whose shown terms have the sign of the prediction, on the data set with the fewest",
            f"{100 * signs.right_sign:.1f} % ({signs.dataset})",
            "99 %",
        ],
        [
            f"time of {speed.N_SAMPLES:,} explanations with contributions, about {speed.N_BOXES:,} boxes, "
            f"{speed.N_FEATURES} features, against predicting them",
            f"{slowest.explain:.1f} times ({slowest.model}, bandwidths: {slowest.n_bandwidths})",
            f"at most {speed.LIMIT} times",
        ],
        [
            f"the time of shap's KernelExplainer with {speed.SHAP_SAMPLES:,} samples against that",
            f"{closest.kernel_explainer:,.0f} times",
            f"at least {speed.SHAP_LIMIT} times",
        ],
    ]
    return markdown_table(["what", "found", "must be"], rows)


def each_set(found: Sequence[Quality]) -> str:
    head = ["data set", "features", "rows", "sum − score", "of ensembles", "all subsets", "right sign, %"]
    head += ["lines", "95 % of rows: at most", "shown, %"]
    rows = [
        [
            one.dataset,
            str(one.n_columns),
            str(one.n_rows),
            f"{one.incomplete:.0e}",
            _or_nothing(one.incomplete_ensemble),
            _or_nothing(one.from_subsets),
            f"{100 * one.right_sign:.1f}",
            f"{one.lines:.1f}",
            f"{one.many_lines:.0f}",
            f"{100 * one.shown:.0f}",
        ]
        for one in found
    ]
    return (
        "## Each data set\n\n`AutoSSLART` on the data sets of `make accuracy`, with the labels of its first "
        "repetition. *Lines*: how many contributions an explanation shows, features that go together being one; the "
        "rest is one more line with its sum. *Shown*: their share of the sum of all absolute contributions.\n\n"
        + markdown_table(head, rows)
    )


def _or_nothing(value: float | None) -> str:
    return "" if value is None else f"{value:.0e}"


def page(found: Sequence[Quality], timings: Sequence[speed.Timing], others: Sequence[str]) -> str:
    text = (
        "# Benchmarks of explanations\n\nWritten by `make explain-bench`. [How explanations are made]"
        f"(explanations.md).\n\n{description('shap', 'imodels')}.\n\n"
    )
    return "\n\n".join([text + summary(found, timings), *others, each_set(found)]) + "\n"


def measured(datasets: Sequence[str], max_rows: int) -> list[Quality]:
    found = []
    for dataset in datasets:
        found.append(quality(dataset, max_rows))
        print(found[-1], flush=True)
    return found


def main(line: list[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument(
        "--quick", action="store_true", help="the UCI sets, fewer rows and turns; prints, writes nothing"
    )
    arguments = parser.parse_args(line)
    start = time.perf_counter()
    timings = speed.timings(arguments.quick)
    others = [speed.section(timings, arguments.quick)]
    print(others[0], flush=True)
    found = measured(UCI, QUICK_ROWS) if arguments.quick else measured(ORDER, MAX_ROWS)
    others.append(counterfactuals.section(counterfactuals.SKLEARN if arguments.quick else counterfactuals.TABLES))
    others.append(rules.section(arguments.quick))
    text = page(found, timings, others)
    print(text)
    if not arguments.quick:
        (ROOT / "docs" / "explain_benchmarks.md").write_text(text)
    print(f"{time.perf_counter() - start:.0f} s")


if __name__ == "__main__":
    main()
