"""The page of the benchmark, docs/serve_benchmarks.md: every number is computed from the results of one run."""

from __future__ import annotations

from collections.abc import Sequence
from statistics import median
from typing import Any

from serve.calls import CALLS, LABELLED
from serve.endurance import KEEP_ROWS, N_CLIENTS, ROWS_PER_SECOND, WARM, flatness
from serve.environments import NOTES, REQUIREMENTS
from serve.peers import OURS, OURS_BY_NAME, PEERS, WITHOUT_WORKER
from serve.states import CONNECTIONS, FITTING, LEARNING, ROWS, STATES
from sslart._utils.text import markdown_table, plural

Result = dict[str, Any]
WORDS = {1: "one row", 100: "100 rows"}


def page(results: Result) -> str:
    """Return the page, with the parts for which there are results."""
    about = results["about"]
    text = (
        f"# The service under load\n\nWritten by `{about['command']}` in `benchmarks`, which `make bench-serve` runs. "
        f"{about['machine']}. Ours: version `{about['label']}`. The load is made by {about['generator']}; servers, "
        "load and whatever else goes on share the processors, and nothing leaves the machine. Before the run its load "
        f"average was {about['load']:.1f}; the run took {about['minutes']:.0f} minutes.\n\n"
        + "\n".join(f"- **{name}**: {words}" for name, words in about["tables"].items())
        + "\n\nA request is sent on each connection as soon as the one before is answered, for "
        f"{about['seconds']:g} seconds. Rows are new to the model. p50 and p99 are milliseconds: half of the requests, "
        "and 99 in 100, were answered within that time.\n"
    )
    failed = sum(one["failed"] for one in (*results["states"], *results["peers"]))
    text += f"\nRequests that failed in all of the measurements below: {failed}.\n"
    if results["peers"]:
        text += _peers(results["peers"], about["skipped"])
    if results["states"]:
        text += _states(results["states"])
    if results.get("hour"):
        text += _memory(results["hour"], results["learnt"])
    return text


def _rate(value: float) -> str:
    return f"{value:,.0f}"


def _milliseconds(value: float) -> str:
    return f"{value:.2f}" if value < 10 else f"{value:.0f}"


def _peers(found: Sequence[Result], skipped: dict[str, str]) -> str:
    names = [name for name in (OURS, OURS_BY_NAME, *PEERS) if any(one["contender"] == name for one in found)]
    n_turns = len({one["turn"] for one in found})
    text = (
        f"\n## Beside MLServer and BentoML\n\nThe same estimator under {' and '.join(_versions())}, each in an "
        "environment of its own. All servers are started, one is measured at a time, in turns; the table has the "
        f"median of {plural(n_turns, 'turn')}. Before, it is checked that all predict the same. `infer` is the Open "
        "Inference Protocol, as JSON: ours answers with class, probabilities, abstention and novelty, MLServer with "
        "the probabilities that are asked of its runtime for scikit-learn. BentoML runs a service of four lines that "
        f"returns the probabilities. As it comes, MLServer computes in a worker process; *{WITHOUT_WORKER}* is without "
        "(`parallel_workers: 0`). Processor time is that of all processes of a server; other work on the machine "
        f"lowers requests per second, and does not add to it. The peers keep nothing and learn nothing. {NOTES}\n"
    )
    for name, reason in skipped.items():
        text += f"\n{name} was not measured: {reason}.\n"
    head = ["", *(f"{WORDS[rows]}, {plural(n, 'connection')}" for rows in ROWS for n in CONNECTIONS)]
    for table in dict.fromkeys(one["table"] for one in found):
        cells = {name: [_median_of(found, table, name, *place) for place in _places()] for name in names}
        lines = [
            [
                name,
                *(f"{_rate(one['requests'])} ({_milliseconds(one['p50'])}, {_milliseconds(one['p99'])})" for one in of),
            ]
            for name, of in cells.items()
        ]
        peers = [name for name in names if name in PEERS]
        if peers:
            ratios = [
                cells[OURS][place]["requests"] / max(cells[name][place]["requests"] for name in peers)
                for place in range(len(_places()))
            ]
            lines.append(["**ours (infer) against the fastest peer**", *(f"**{one:.2f} times**" for one in ratios)])
        text += f"\n{table}: requests per second (p50, p99)\n\n{markdown_table(head, lines)}\n"
        if all(one["processor"] is not None for of in cells.values() for one in of):
            text += f"\n{table}: milliseconds of a processor per request\n\n{_processor(head, cells, peers)}\n"
    return text


def _processor(head: list[str], cells: dict[str, list[Result]], peers: Sequence[str]) -> str:
    """Return the processor time of requests on the servers, to which other work on the machine does not add."""
    lines = [[name, *(_milliseconds(one["processor"]) for one in of)] for name, of in cells.items()]
    if peers:
        ratios = [
            min(cells[name][place]["processor"] for name in peers) / cells[OURS][place]["processor"]
            for place in range(len(_places()))
        ]
        lines.append(["**the thriftiest peer against ours (infer)**", *(f"**{one:.2f} times**" for one in ratios)])
    return markdown_table(head, lines)


def _versions() -> list[str]:
    return [", ".join(one.replace("==", " ") for one in REQUIREMENTS[name][:1]) for name in REQUIREMENTS]


def _places() -> list[tuple[int, int]]:
    return [(rows, n_connections) for rows in ROWS for n_connections in CONNECTIONS]


def _median_of(found: Sequence[Result], table: str, name: str, rows: int, n_connections: int) -> Result:
    own = [
        one
        for one in found
        if (one["table"], one["contender"], one["each"], one["connections"]) == (table, name, rows, n_connections)
    ]
    found: Result = {key: median(one[key] for one in own) for key in ("requests", "p50", "p99")}
    costs = [one["processor"] for one in own if one["processor"] is not None]
    return {**found, "processor": median(costs) if costs else None}


def _states(found: Sequence[Result]) -> str:
    text = (
        "\n## While it learns, and while it is fitted\n\n`infer`, JSON or binary tensors, and `predict` keep nothing. "
        "`decide` and `learn` are answered when the rows are on the disk; the model learns them soon after, also where "
        f"it was idle before. Of the rows to learn, one in {LABELLED} has a label. *{LEARNING}*: another client sends "
        f"rows to learn, ten at a time, one request after the other. *{FITTING}*: another client lets the model be "
        "fitted again and again.\n"
    )
    for table in dict.fromkeys(one["table"] for one in found):
        own = [one for one in found if one["table"] == table]
        states = [state for state in STATES if any(one["state"] == state for one in own)]
        for rows in ROWS:
            unit = "requests/s" if rows == 1 else "rows/s"
            head = ["", "connections", *(f"{state}: {what}" for state in states for what in (unit, "p50", "p99"))]
            lines = [
                [
                    name,
                    str(n_connections),
                    *(cell for state in states for cell in _cells(own, state, name, rows, n_connections)),
                ]
                for name in CALLS
                for n_connections in CONNECTIONS
                if any(one["call"] == name for one in own)
            ]
            text += f"\n{table}, {WORDS[rows]} per request\n\n{markdown_table(head, lines)}\n"
        text += _meanwhile(own)
    return text


def _cells(own: Sequence[Result], state: str, name: str, rows: int, n_connections: int) -> list[str]:
    for one in own:
        if (one["state"], one["call"], one["each"], one["connections"]) == (state, name, rows, n_connections):
            rate = one["requests"] if rows == 1 else one["rows"]
            return [_rate(rate), _milliseconds(one["p50"]), _milliseconds(one["p99"])]
    return ["", "", ""]


def _meanwhile(own: Sequence[Result]) -> str:
    learnt = [one["others"]["learnt"] for one in own if "learnt" in one["others"]]
    fits = [(one["others"]["fits"], one["others"]["seconds"]) for one in own if "fits" in one["others"]]
    text = ""
    if learnt:
        text += (
            f"The other client had {_rate(min(learnt))} to {_rate(max(learnt))} rows per second accepted, median "
            f"{_rate(median(learnt))}. "
        )
    if fits:
        n_fits, seconds = sum(n for n, _ in fits), sum(seconds for _, seconds in fits)
        text += f"There were {n_fits} fits, {seconds / max(n_fits, 1):.1f} seconds each. "
    lags = [one for one in own if "lag" in one]
    if lags:
        worst = max(lags, key=lambda one: one["catch_up"])
        text += (
            f"When a measurement of `decide` or `learn` ended, at most {_rate(max(one['lag'] for one in lags))} rows "
            f"were accepted and not yet learnt; all were within {worst['catch_up']:.1f} seconds."
        )
    return f"\n{text.strip()}\n" if text else ""


def _memory(hour: Result, learnt: Result) -> str:
    counts, took = hour["counts"], hour["milliseconds"]
    minutes = counts["rows"] / ROWS_PER_SECOND / 60
    kinds = ", ".join(f"{_rate(counts[name])} {name} ({_milliseconds(took[name])} ms)" for name in took)
    lines = [_line("mixture of requests", hour), _line("rows to learn, 100 at a time", learnt)]
    head = ["", "rows", "requests", "seconds", "MB when warm", "MB at the end", "most MB", "most rows waiting"]
    head += ["store, MB at the end", "most MB of the store", "boxes at the end"]
    return (
        f"\n## Memory\n\nResident memory of the service, looked at once a second, from {100 * WARM:.0f} % of the rows "
        f"on. The mixture is what comes in {minutes:.0f} minutes at {ROWS_PER_SECOND} rows per second, sent by "
        f"{N_CLIENTS} clients as fast as it is answered, while a listener got {_rate(sum(hour['events'].values()))} "
        f"events. Its requests, with the mean time to an answer: {kinds}. The model goes on learning, and the "
        f"first explanation, or description, of each new state computes what the next ones use. The service keeps the "
        f"newest {KEEP_ROWS:,} rows without a label (`--keep-rows`), and the labelled ones. "
        "Rows that wait are "
        "accepted and not yet learnt.\n\n"
        + markdown_table(head, lines)
        + f"\n\nAfter the last of the rows to learn, the model had learnt all within {learnt['catch_up']:.1f} seconds: "
        f"{_rate(learnt['counts']['rows'] / (learnt['seconds'] + learnt['catch_up']))} rows per second.\n"
    )


def _line(name: str, found: Result) -> list[str]:
    samples, memory = found["samples"], flatness(found["samples"])
    return [
        name,
        _rate(found["counts"]["rows"]),
        _rate(found["counts"]["requests"]),
        _rate(found["seconds"]),
        *(_rate(memory[key]) for key in ("first", "last", "most")),
        _rate(max(one["lag"] for one in samples)),
        _rate(samples[-1]["store_mb"]),
        _rate(max(one["store_mb"] for one in samples)),
        _rate(samples[-1]["boxes"]),
    ]
