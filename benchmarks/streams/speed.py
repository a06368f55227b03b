"""Samples per second of ours beside river's adaptive random forest: `python -m streams.speed`, part of `make streams`.

The contenders take turns within one process: a thousand samples of the stream for the one, then for the other. What
counts is the processor time of predicting and learning. Beside the speed stands the accuracy, and at the end of each
line how many times as fast as the forest ours is.
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from threadpoolctl import threadpool_limits

import pieces
from streams.data import CHECKING, N_SAMPLES, TUNING, Stream, labelled, stream
from streams.findings import SHARES, percent
from streams.ours import IN_BLOCKS, OURS, variants
from streams.protocol import Run
from streams.rivals import ARF, RIVALS

TURN = 1_000


def in_turns(made: dict[str, Callable[[int, int], Any]], data: Stream, share: float) -> dict[str, Run]:
    """Return the results of each contender."""
    shown = labelled(len(data.y), share, 1)
    runs = {name: Run(make(data.n_classes, 1), data, shown) for name, make in made.items()}
    for _ in range(0, len(data.y), TURN):
        for run in runs.values():
            run.advance(TURN)
    return runs


def rows(names: list[str], streams: list[str], shares: list[float], n: int) -> Iterator[dict[str, Any]]:
    made = {ARF: RIVALS[ARF], **{name: variants([])[name] for name in names}}
    for share in shares:
        for name in streams:
            runs = in_turns(made, stream(name, n), share)
            rates = {who: len(run.right) / run.seconds for who, run in runs.items()}
            accuracies = {who: 100.0 * float(run.right.mean()) for who, run in runs.items()}
            print(
                f"{name}, {percent(share)}: "
                + ", ".join(f"{who} {rate:.0f}/s ({accuracies[who]:.2f} %)" for who, rate in rates.items())
                + "".join(f"; {rates[who] / rates[ARF]:.2f}" for who in names),
                flush=True,
            )
            yield {"stream": name, "share": share, "rates": rates, "accuracies": accuracies}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--samples", type=int, default=N_SAMPLES, help="the first so many of each stream")
    parser.add_argument("--methods", nargs="+", choices=list(variants([])), default=[OURS, IN_BLOCKS])
    parser.add_argument("--streams", nargs="+", choices=(*CHECKING, *TUNING), metavar="STREAM", default=list(CHECKING))
    parser.add_argument("--shares", nargs="+", type=float, default=SHARES)
    parser.add_argument("--label", help="version of ours; a digest of the sources")
    parser.add_argument("--out", type=Path, default=pieces.ROOT / "results" / "streams" / "speed.json")
    arguments = parser.parse_args()
    with threadpool_limits(1):
        measured = list(rows(arguments.methods, arguments.streams, arguments.shares, arguments.samples))
    label = arguments.label or pieces.version_of_ours()
    found = {"label": label, "n": arguments.samples, "methods": arguments.methods, "rows": measured}
    arguments.out.parent.mkdir(parents=True, exist_ok=True)
    arguments.out.write_text(json.dumps(found))
    print(f"wrote {arguments.out}")


if __name__ == "__main__":
    main()
