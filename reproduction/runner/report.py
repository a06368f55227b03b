"""The report: one self-contained HTML page, and the same tables as Markdown."""

from __future__ import annotations

import base64
import io
import platform
import shlex
from collections.abc import Callable, Iterable
from html import escape
from importlib import resources
from pathlib import Path
from typing import Any

import numpy
import sklearn

from reproduction import paper
from reproduction.framework.experiment import Check, Experiment, Results, Table, outcome
from reproduction.runner.registry import EXPERIMENTS
from reproduction.runner.run import Run
from sslart import __version__
from sslart._utils.text import Cell, html_table, markdown_table

WHY_NOT = "its files were not on the machine; `python -m reproduction data fetch NAME` explains how to get them."
OWN = "own"
WORDS = {
    "reproduced": "reproduced",
    "partly": "partly reproduced",
    "not": "not reproduced",
    "not run": "not run",
    OWN: "run on a table of your own",
}


def write(run: Run, folder: Path) -> None:
    """Write report.html, report.md with the same tables, and summary.md."""
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "summary.md").write_text(as_summary(run), encoding="utf-8")
    (folder / "report.md").write_text(as_markdown(run), encoding="utf-8")
    (folder / "report.html").write_text(as_html(run), encoding="utf-8")


def outcomes(run: Run) -> dict[str, tuple[str, list[Check]]]:
    """Return the outcome of each experiment and the checks that it follows from: none on a table of one's own."""
    found = {}
    for name, results in run.results.items():
        checks = EXPERIMENTS[name].checks(results) if results and run.settings.table is None else []
        found[name] = OWN if results and run.settings.table else outcome(checks), checks
    return found


def about(run: Run) -> str:
    """Return a text on the run: its command line, settings, and versions."""
    settings, table = run.settings, run.settings.table
    words = ["run", *(["--all"] if set(run.results) == set(EXPERIMENTS) else run.results)]
    words += ["--quick"] if settings.quick else []
    words += ["--seed", str(settings.seed)] if settings.seed else []
    if table is not None:
        words += ["--data", table.name, "--label", table.label]
        words += [word for name in table.ignore for word in ("--ignore", name)]
        words += [word for name in table.use for word in ("--use", name)]
        words += [] if table.positive is None else ["--positive", table.positive]
    words += [word for one in settings.variants for word in ("--model", one.name)]
    counts = sorted(set(run.repeats.values()))
    repeats = f"{counts[0]}" if len(counts) == 1 else f"{counts[0]} to {counts[-1]}"
    quoted = (
        "Columns with a grey background (in italics in Markdown) are quoted from the paper; all others were measured."
        if table is None
        else "All was measured on this table, and no statement of the paper is about it."
    )
    return (
        f"Made by `python -m reproduction {shlex.join(words)}` with sslart {__version__}, numpy {numpy.__version__}, "
        f"scikit-learn {sklearn.__version__}, Python {platform.python_version()}. Each experiment was repeated "
        f"{repeats} times. Cells are mean ± standard deviation, and in brackets the bootstrap 95 % interval of the "
        f"mean. {quoted}"
    )


def explained(checks: list[Check], experiment: Experiment) -> str:
    """Return the number of statements that hold, and the likely reason why others do not."""
    held = sum(check.holds for check in checks)
    text = f"{held} of {len(checks)} statements hold."
    return text if held == len(checks) else f"{text} Likely reason where they do not: {experiment.reason}"


# ---- Markdown


def as_markdown(run: Run) -> str:
    """Return the report as Markdown."""
    parts = [f"# {_heading(run)}", about(run), _markdown(_overview(run))]
    for name, (word, checks) in outcomes(run).items():
        experiment = EXPERIMENTS[name]
        parts += [f"## {_title(run, name)}", *_introduction(run, name)]
        if run.results[name]:
            if checks:
                outcome_found = f"**Outcome: {WORDS[word]}.** {explained(checks, experiment)}"
                parts += [outcome_found, _markdown(_statements(checks))]
            parts += _remarks(run, name)
            parts += [f"### {table.title}\n\n{_markdown(table)}" for table in experiment.tables(run.results[name])]
    return "\n\n".join([*parts, *_contradictions(run, _markdown)]) + "\n"


def as_summary(run: Run) -> str:
    """Return the outcomes as Markdown, each with the statements that it follows from."""
    parts = ["# Results of the reproduction", about(run), _markdown(_overview(run))]
    for name, (word, checks) in outcomes(run).items():
        experiment = EXPERIMENTS[name]
        parts += [f"## {_title(run, name)}: {WORDS[word]}", *_introduction(run, name)]
        if checks:
            parts += [explained(checks, experiment), _markdown(_statements(checks)), *_remarks(run, name)]
    return "\n\n".join([*parts, *_contradictions(run, _markdown)]) + "\n"


def _heading(run: Run) -> str:
    table = run.settings.table
    return "The experiments of the paper, " + ("reproduced" if table is None else f"on {table.name}")


def _title(run: Run, name: str) -> str:
    """Return the title of an experiment; on a table of one's own it is about that table."""
    table = run.settings.table
    return EXPERIMENTS[name].title if table is None else f"{table.name}: {name}"


def _introduction(run: Run, name: str) -> list[str]:
    """Return where the paper has an experiment, what it is about, and on what it was not run."""
    experiment = EXPERIMENTS[name]
    missing = [f"Not run on {dataset}: {WHY_NOT}" for dataset in _missing(run, name)]
    protocol = "" if run.settings.table is None else f" The protocol is that of “{experiment.title}”."
    return [f"In the paper: {experiment.section}.{protocol}", experiment.question, *missing]


def _remarks(run: Run, name: str) -> list[str]:
    remarks = EXPERIMENTS[name].remarks
    return [] if remarks is None else remarks(run.results[name])


def _contradictions(run: Run, shown: Callable[[Table], str]) -> list[str]:
    """Return where the paper contradicts itself, with a heading; nothing on a table of one's own."""
    if run.settings.table is not None:
        return []
    rows = [[str(one.line), one.oddity] for one in paper.oddities()]
    odd = Table("Where the paper contradicts itself", ["line", "what it prints"], rows)
    return [f"<h2>{odd.title}</h2>" if shown is _html else f"## {odd.title}", shown(odd)]


def _markdown(table: Table) -> str:
    quoted = [[f"*{cell}*" if n in table.quoted else cell for n, cell in enumerate(row)] for row in table.rows]
    return markdown_table(table.header, quoted)


def _overview(run: Run) -> Table:
    rows = []
    for name, (word, checks) in outcomes(run).items():
        held = f"{sum(check.holds for check in checks)} of {len(checks)}" if checks else "–"
        rows.append([_title(run, name), EXPERIMENTS[name].section, WORDS[word], held])
    return Table("Outcomes", ["experiment", "in the paper", "outcome", "statements that hold"], rows)


def _statements(checks: Iterable[Check]) -> Table:
    rows = [[check.statement, str(check.line), "yes" if check.holds else "no", check.evidence] for check in checks]
    return Table("Statements", ["statement of the paper", "line", "holds", "measured"], rows)


def _missing(run: Run, name: str) -> list[str]:
    return [dataset for one, dataset in run.missing if one == name]


# ---- HTML


def as_html(run: Run) -> str:
    """Return the report as one page with style and pictures inside."""
    found = outcomes(run)
    body = [f"<h1>{escape(_heading(run))}</h1>", f"<p>{_inline(about(run))}</p>"]
    overview = _overview(run)
    rows: list[list[str | Cell]] = [
        [Cell(f'<a href="#{name}">{escape(title)}</a>', is_html=True), section, Cell(_badge(word), is_html=True), held]
        for (name, (word, _)), (title, section, _, held) in zip(found.items(), overview.rows, strict=True)
    ]
    body.append(f'<div class="wide">{html_table(overview.header, rows)}</div>')
    for name, (word, checks) in found.items():
        body.append(_section(run, name, word, checks))
    body += _contradictions(run, _html)
    style = resources.files(__package__).joinpath("report.css").read_text(encoding="utf-8")
    return (
        '<!doctype html>\n<html lang="en"><head><meta charset="utf-8">'
        '<meta name="viewport" content="width=device-width, initial-scale=1">'
        f"<title>sslart: the paper's experiments</title><style>{style}</style></head>"
        f"<body><main>{''.join(body)}</main></body></html>\n"
    )


def _section(run: Run, name: str, word: str, checks: list[Check]) -> str:
    experiment, results = EXPERIMENTS[name], run.results[name]
    parts = [f'<section id="{name}"><h2>{escape(_title(run, name))}</h2>']
    parts += [f"<p>{_inline(text)}</p>" for text in _introduction(run, name)]
    if results:
        about_checks = f" {escape(explained(checks, experiment))}" if checks else ""
        parts.append(f"<p>{_badge(word)}{about_checks}</p>")
        parts.append(_picture(experiment, results))
        parts += [_html(_statements(checks))] if checks else []
        parts += [f"<p>{escape(text)}</p>" for text in _remarks(run, name)]
        for table in experiment.tables(results):
            parts.append(f"<details open><summary>{escape(table.title)}</summary>{_html(table)}</details>")
    return "".join(parts) + "</section>"


def _badge(word: str) -> str:
    return f'<span class="outcome {word.replace(" ", "-")}">{WORDS[word]}</span>'


def _picture(experiment: Experiment, results: Results) -> str:
    if experiment.figure is None:
        return ""
    figure = experiment.figure(results)
    file = io.BytesIO()
    figure.savefig(file, format="png", dpi=150)
    _close(figure)
    data = base64.b64encode(file.getvalue()).decode()
    return f'<img alt="{escape(experiment.title)}" src="data:image/png;base64,{data}">'


def _close(figure: Any) -> None:
    import matplotlib.pyplot as plt

    plt.close(figure)


def _html(table: Table) -> str:
    def cells(row: Iterable[str]) -> list[Cell]:
        return [Cell(text, css_class="quoted" if n in table.quoted else "") for n, text in enumerate(row)]

    return f'<div class="wide">{html_table(cells(table.header), map(cells, table.rows))}</div>'


def _inline(text: str) -> str:
    """Return text with `code` marked up."""
    pieces = escape(text).split("`")
    return "".join(f"<code>{piece}</code>" if place % 2 else piece for place, piece in enumerate(pieces))
