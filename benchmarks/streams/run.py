"""Compare sslart with learners of river and CapyMOA on streams and write docs/streams.md: `make streams`. Resumes."""

from __future__ import annotations

import argparse
import json
import shlex
import sys
import time
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

from threadpoolctl import threadpool_limits

import pieces
from streams import capymoa_ssl, report
from streams.data import CHECKING, N_SAMPLES, N_SHORT, TUNING, WHOLE, labelled, stream
from streams.endless import KINDS
from streams.findings import N_DRAWS, SHARES, Findings, draws_of, percent
from streams.ours import OURS, variants
from streams.protocol import measure
from streams.rivals import ON_TUNING, REFERENCES, RIVALS


@dataclass(frozen=True)
class Work:
    """One method on one stream with one draw of labels."""

    stream: str
    n: int
    share: float
    seed: int
    method: str
    half_life: int | str | None = None  # of ours, where it is set


def do(work: Work) -> pieces.Result | None:
    """Return the measurements, or None where the method cannot learn the stream."""
    data = stream(work.stream, work.n)
    if work.method in capymoa_ssl.NAMES:
        if capymoa_ssl.reason_to_skip(work.method, data.n_classes):
            return None
        found = capymoa_ssl.measure(work.method, data, work.share, work.seed)
    else:
        made = variants([] if work.half_life is None else [work.half_life]) | RIVALS | REFERENCES
        contender = made[work.method](data.n_classes, work.seed)
        with threadpool_limits(1):
            found = measure(contender, data, labelled(len(data.y), work.share, work.seed))
    return {**asdict(work), **found}


class Store:
    """Results as lines of JSON: the rivals' in one file, those of each version of ours in another."""

    def __init__(self, folder: Path, label: str) -> None:
        self.rivals, self.ours = folder / "rivals.jsonl", folder / f"ours-{label}.jsonl"

    def path(self, method: str) -> Path:
        return self.rivals if method in (*RIVALS, *REFERENCES, *capymoa_ssl.NAMES) else self.ours

    def read(self, n: int) -> list[pieces.Result]:
        """Return the results on streams of this length."""
        return [one for path in (self.rivals, self.ours) for one in pieces.stored(path) if one["n"] == n]


def missing(store: Store, wanted: Iterable[Work]) -> Iterator[Work]:
    """Yield what the store does not have yet."""
    keys = ("stream", "n", "share", "seed", "method")
    known = {tuple(one[key] for key in keys) for path in (store.rivals, store.ours) for one in pieces.stored(path)}
    yield from (work for work in wanted if tuple(getattr(work, key) for key in keys) not in known)


def wanted(arguments: argparse.Namespace, streams: Sequence[str], methods: Sequence[str]) -> Iterator[Work]:
    """Yield all work: all methods with the first draw of labels, then with the next."""
    settings = {f"AutoSSLART, half_life={half_life!r}": half_life for half_life in arguments.half_life}
    for seed in range(1, arguments.draws + 1):
        for method in methods:
            for share in arguments.shares:
                if seed in draws_of(share, method, arguments.draws):
                    yield from (
                        Work(name, arguments.samples, share, seed, method, settings.get(method)) for name in streams
                    )


def line_of(result: pieces.Result) -> str:
    """Return one result in a line."""
    where = f"{result['stream']}, {percent(result['share'])}, draw {result['seed']}"
    return f"{where}: {result['method']} {result['accuracy']:.2f} %, {result['samples'] / result['seconds']:.0f}/s"


def half_life_of(text: str) -> int | str:
    return int(text) if text.isdecimal() else text


def arguments_of(line: list[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--samples", type=int, default=N_SAMPLES, help="the first so many of each stream")
    parser.add_argument("--whole", dest="samples", action="store_const", const=WHOLE, help="whole streams (days)")
    parser.add_argument(
        "--streams", nargs="+", choices=(*CHECKING, *TUNING), metavar="STREAM", help="these only; print, write no page"
    )
    parser.add_argument(
        "--tuning", action="store_true", help="the streams for tuning instead, with three rivals; print, write no page"
    )
    parser.add_argument(
        "--shares", nargs="+", type=float, default=SHARES, help="these shares of labels only; print, write no page"
    )
    parser.add_argument("--draws", type=int, default=N_DRAWS, help="of labels, where not all samples have one")
    parser.add_argument("--methods", nargs="+", metavar="METHOD", help="measure these only; print, write no page")
    parser.add_argument(
        "--half-life",
        nargs="+",
        type=half_life_of,
        default=[],
        help="more rows: AutoSSLART with these values of half_life",
    )
    parser.add_argument("--judged", default=OURS, help="the row of ours that is ranked")
    parser.add_argument("--only-ours", action="store_true", help="measure ours; what the rivals lack stays missing")
    parser.add_argument("--only-rivals", action="store_true", help="measure the rivals; print, write no page")
    parser.add_argument("--report-only", action="store_true", help="measure nothing; write the page")
    parser.add_argument("--print", action="store_true", help="print the tables, write no page")
    parser.add_argument("--label", help="version of ours, part of the name of its results; a digest of the sources")
    parser.add_argument("--jobs", type=int, default=1)
    return pieces.parsed(parser, "streams", line)


def main(line: list[str] | None = None) -> None:
    arguments = arguments_of(line)
    pieces.one_thread_each()
    label = arguments.label or pieces.version_of_ours()
    store = Store(arguments.out, label)
    names = tuple(arguments.streams or (TUNING if arguments.tuning else CHECKING))
    ours = [] if arguments.only_rivals else list(variants(arguments.half_life))
    rivals = list(ON_TUNING) if arguments.tuning else [*RIVALS, *capymoa_ssl.names(arguments.samples <= N_SHORT)]
    others = [] if arguments.only_ours else [*REFERENCES, *rivals]
    methods = arguments.methods or [*ours, *others]
    if not arguments.report_only:
        work = list(missing(store, wanted(arguments, names, methods)))
        start = time.perf_counter()
        for number, result in enumerate(pieces.done(do, work, arguments.jobs), 1):
            if result is None:
                continue
            pieces.store(store.path(result["method"]), [result])
            print(f"{number}/{len(work)} {time.perf_counter() - start:.0f} s: {line_of(result)}", flush=True)
    findings = Findings(store.read(arguments.samples), names, arguments.draws)
    shown, speed = list(variants(arguments.half_life)), _measured(arguments.out / "speed.json")
    if (
        arguments.streams or arguments.tuning or arguments.methods or arguments.only_rivals or arguments.print
    ) or tuple(arguments.shares) != SHARES:
        print(report.tables(findings, arguments.shares, shown, arguments.judged, speed))
        return
    text = report.page(
        findings,
        shown,
        arguments.judged,
        command=shlex.join(["python", "-m", "streams.run", *(sys.argv[1:] if line is None else line)]),
        label=label,
        n=arguments.samples,
        speed=speed,
        short=Findings(store.read(N_SHORT), names, 1),
        n_short=N_SHORT,
        endless=[found for kind in KINDS if (found := _measured(arguments.out / f"endless-{kind}.json"))],
    )
    arguments.page.write_text(text)
    print(f"wrote {arguments.page}")


def _measured(path: Path) -> pieces.Result | None:
    found: pieces.Result | None = json.loads(path.read_text()) if path.exists() else None
    return found


if __name__ == "__main__":
    main()
