"""The page of the stream benchmark, docs/streams.md: every number is computed from the stored results."""

from __future__ import annotations

import platform
from collections.abc import Iterator, Sequence
from contextlib import suppress
from importlib.metadata import PackageNotFoundError, version
from typing import Any

from sslart._utils.text import markdown_table
from streams import requirements
from streams.capymoa_ssl import NAMES, OSNN, REQUIREMENT, reason_to_skip
from streams.data import MAX_GENERATED
from streams.findings import NOT_TAKEN, SHARES, Findings, percent
from streams.ours import BLOCK
from streams.rivals import ARF, LOGISTIC, REFERENCES, RIVALS

PROTOCOL = f"""Test, then train: each sample is predicted before it is learnt, and the accuracy counts all samples, the
first ones too; where a model cannot predict yet, it is wrong. A row of ours named "blocks of {BLOCK}" predicts a whole
block before it learns any of it, which is quicker and less accurate. The same samples have their label for all methods:
they are drawn at random with a fixed seed, DRAWS times where not all have one, and tables show the mean over the draws.
Ours learns all samples; river's models learn those with a label (their scalers learn all). CapyMOA's learners run under
its `prequential_ssl_evaluation`, which draws its labels itself: it gets the same streams, shares and seeds, and the run
stops with an error if it shows other labels than ours.

Rivals have their defaults: river's forests and patches have 10 trees; logistic regression (softmax for more than two
classes) and nearest neighbours get features with mean 0 and standard deviation 1. SLEADE and OSNN are CapyMOA's
semi-supervised learners. Ours gets raw samples and a seed; the row names its other settings. Two references use no
features: "no change" predicts the last label seen, "majority" the most frequent one; they are not ranked.

Speed is samples per second of processor time, predicted and learnt, as a multiple of river's adaptive random forest:
geometric mean over the streams. Rivals: each in a run of its own, beside the forest's. Ours: in turns with the forest,
in one process.

These streams are for judging ours; others are for choosing what it does (`--tuning`): river's LED, Agrawal, Mixed, Sine
and STAGGER generators with abrupt drift, its moving clusters, UNSW-NB15, the Tennessee Eastman process, and, from the
same generators as here but with other seeds, SEA and hyperplane."""
STREAMS = f"""elec (6 features, 2 classes), weather (8, 2) and covtype (54, 7) are in the order of time, from the start.
SEA (3, 2): river's generator, four concepts one after another, a tenth of the labels wrong. hyperplane (10, 2): river's
generator, all weights change with every sample (0.001), 5 % of the labels wrong. Generated streams have at most
{MAX_GENERATED:,} samples."""


Speed = dict[str, Any] | None  # what `streams.speed` stores


def share_section(findings: Findings, share: float, ours: Sequence[str], judged: str, speed: Speed) -> str:
    """Write how all methods do with one share of the labels."""
    rivals = [*RIVALS, *NAMES]
    title = f"## {percent(share)} of the labels" if share < 1 else "## All labels"
    methods = findings.any_of(share, [*ours, *rivals, *REFERENCES])
    if not methods:
        return f"{title}\n\nNothing is measured."
    ranks = findings.ranks(share, findings.ranked(share, [judged, *rivals]))
    complete = findings.complete(share, methods)
    best = {
        stream: max(findings.mean(stream, share, name) for name in methods if findings.has(stream, share, name))
        for stream in findings.streams
        if any(findings.has(stream, share, name) for name in methods)
    }
    rows = []
    for method in methods:
        cells = []
        for stream in findings.streams:
            if not findings.has(stream, share, method):
                cells.append("")
                continue
            mean = findings.mean(stream, share, method)
            cells.append(f"**{mean:.1f}**" if mean > best[stream] - 0.05 else f"{mean:.1f}")
        average = f"{findings.mean_accuracy(share, method):.2f}" if method in complete else ""
        rank = f"{ranks[method]:.2f}" if method in ranks else ""
        rows.append([method, *cells, average, rank, _times(findings, share, method, speed)])
    head = ["method", *findings.streams, "mean", "mean rank", f"speed, times {ARF}"]
    return f"{title}\n\n" + markdown_table(head, rows) + _best(findings, share, judged, rivals)


def _best(findings: Findings, share: float, judged: str, rivals: Sequence[str]) -> str:
    """Return a sentence on the best rival in the mean, or nothing where none is measured on all streams."""
    means = {method: findings.mean_accuracy(share, method) for method in findings.complete(share, [judged, *rivals])}
    others = [method for method in means if method != judged]
    if not others:
        return ""
    best = max(others, key=means.__getitem__)
    text = f"\n\nBest rival in the mean: {best}, {means[best]:.2f} %."
    if judged in means:
        text += f" Ours: {means[judged]:.2f} %, a difference of {means[judged] - means[best]:+.2f} points."
    return text


def _times(findings: Findings, share: float, method: str, speed: Speed) -> str:
    """Return the samples per second as a multiple of the forest's: geometric mean over the streams that both have."""
    if method in (*RIVALS, *NAMES):
        values = [
            findings.mean(stream, share, ARF, "seconds") / findings.mean(stream, share, method, "seconds")
            for stream in findings.streams
            if findings.has(stream, share, method) and findings.has(stream, share, ARF)
        ]
        return f"{requirements.geometric_mean(values):.2g}" if values else ""
    if speed is None or method not in speed["methods"] or share not in {row["share"] for row in speed["rows"]}:
        return ""
    return f"{requirements.times_the_forest(speed, method, share):.2g}"


def speed_section(speed: Speed) -> str:
    """Write what `streams.speed` measured."""
    title = "## Speed"
    if speed is None:
        return f"{title}\n\nNot measured: `python -m streams.speed`."
    rows = [
        [row["stream"], percent(row["share"]), f"{row['rates'][ARF]:,.0f}"]
        + [
            f"{row['rates'][method]:,.0f} ({row['rates'][method] / row['rates'][ARF]:.2f})"
            for method in speed["methods"]
        ]
        for row in speed["rows"]
    ]
    return (
        f"{title}\n\nSamples per second of processor time, predicted and learnt, on the first {speed['n']:,} of each "
        f"stream; in brackets as a multiple of river's {ARF}. The contenders take turns in one process, a thousand "
        f"samples each. Version `{speed['label']}`. Measured by `python -m streams.speed`.\n\n"
        + markdown_table(["stream", "labels", ARF, *speed["methods"]], rows)
    )


def endless_section(endless: Sequence[dict[str, Any]]) -> str:
    """Write what `streams.endless` measured."""
    title = "## Without end"
    if not endless:
        return f"{title}\n\nNot measured: `make stream-speed`."
    text = (
        f"{title}\n\nOne sample at a time is predicted and then learnt; ten features, a tenth of the samples labelled. "
        "Steps per second of processor time since the row before; resident memory of the whole process. Measured by "
        "`make stream-speed`."
    )
    for found in endless:
        rows = [
            [f"{row['seen']:,}", f"{row['rate']:,.0f}", f"{row['megabytes']:.0f}", f"{row['boxes']:,}"]
            for row in found["rows"]
        ]
        options = "".join(f", {name}={value!r}" for name, value in found["options"].items())
        text += (
            f"\n\nData: {found['kind']}{options}. Version `{found['label']}`. {found['machine']}.\n\n"
            + markdown_table(["samples", "steps per second", "memory, MB", "boxes"], rows)
        )
    return text


def short_section(short: Findings, n: int, methods: Sequence[str]) -> str:
    """Write how all methods do on the start of the streams, where a method takes too long for the rest of them."""
    heads = [(stream, share) for share in SHARES[:2] for stream in short.streams]
    rows = [
        [method, *(f"{short.mean(*at, method):.1f}" if short.has(*at, method) else "" for at in heads)]
        for method in methods
        if any(short.has(*at, method) for at in heads)
    ]
    return (
        f"## The first {n:,} samples\n\n{OSNN} learns about 25 samples per second, so that it is measured on the start "
        "of the streams alone, with one draw of labels.\n\n"
        + markdown_table(["method", *(f"{stream}, {percent(share)}" for stream, share in heads)], rows)
    )


def not_measured(findings: Findings, rivals: Sequence[str]) -> Iterator[str]:
    """Yield what is missing, and why."""
    for name in rivals:
        for share in SHARES:
            lacking = [stream for stream in findings.streams if not findings.has(stream, share, name)]
            beyond = [stream for stream in lacking if (name, stream) in NOT_TAKEN]
            if beyond and beyond == lacking:
                yield f"- {name}, {percent(share)} of the labels: {', '.join(beyond)} has more than two classes."
            elif lacking:
                reason = (reason_to_skip(name) if name in NAMES else None) or "The run was stopped before"
                yield f"- {name}, {percent(share)} of the labels: {', '.join(lacking)}. {reason}.".replace("..", ".")


def _versions(*names: str) -> Iterator[str]:
    for name in names:
        with suppress(PackageNotFoundError):
            yield f"{name} {version(name)}"


def tables(findings: Findings, shares: Sequence[float], ours: Sequence[str], judged: str, speed: Speed) -> str:
    """Write the tables of all methods, one for each share of the labels."""
    return "\n\n".join(share_section(findings, share, ours, judged, speed) for share in shares)


def page(
    findings: Findings,
    ours: Sequence[str],
    judged: str,
    *,
    command: str,
    label: str,
    n: int,
    speed: Speed,
    endless: Sequence[dict[str, Any]],
    short: Findings | None = None,
    n_short: int = 0,
) -> str:
    packages = ", ".join(_versions("sslart", "river", "numpy"))
    rivals = [*RIVALS, *NAMES]
    protocol = _one_line(PROTOCOL).replace("DRAWS", str(findings.draws))
    text = (
        f"# Streams\n\nWritten by `{command}` in `benchmarks`, a step of `make streams`. At most {n:,} samples of "
        f"each stream. Python {platform.python_version()}, {packages}, {REQUIREMENT.replace('==', ' ')}. Ours: version "
        f"`{label}`; ranked is `{judged}`.\n\n{protocol}\n\n{_one_line(STREAMS)}\n\n"
    )
    parts = [
        requirements.section(findings, judged, rivals, speed, endless),
        tables(findings, SHARES, ours, judged, speed),
    ]
    if short is not None and short.any_of(SHARES[1], [OSNN]):
        parts.append(short_section(short, n_short, [judged, OSNN, ARF, LOGISTIC]))
    missing = list(not_measured(findings, [name for name in rivals if name != OSNN or findings.any_of(1.0, [name])]))
    if missing:
        parts.append("## Not measured\n\n" + "\n".join(missing))
    parts += [speed_section(speed), endless_section(endless)]
    return text + "\n\n".join(parts) + "\n"


def _one_line(text: str) -> str:
    """Return paragraphs on a line each."""
    return "\n\n".join(" ".join(paragraph.split()) for paragraph in text.split("\n\n"))
