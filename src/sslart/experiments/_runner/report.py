"""The report: one self-contained HTML page, and the same tables as Markdown."""

from __future__ import annotations

import base64
import io
import platform
from collections.abc import Iterable
from html import escape
from importlib import resources
from pathlib import Path
from typing import Any

import numpy
import sklearn

from sslart import __version__
from sslart._utils.tables import Cell, html_table, markdown_table
from sslart.experiments import _paper
from sslart.experiments._framework.experiment import Check, Experiment, Results, Table, outcome
from sslart.experiments._runner.registry import EXPERIMENTS
from sslart.experiments._runner.run import Run

WHY_NOT = "its files were not on the machine; `sslart data fetch NAME` explains how to get them."
WORDS = {"reproduced": "reproduced", "partly": "partly reproduced", "not": "not reproduced", "not run": "not run"}
TABLES_OF = {
    "images": "sing",
    "binary": "Comp",
    "multiclass": "EnsmCompare",
    "anomaly": "anomaly",
    "motion": "Real-world",
    "rules": "rule",
}


def write(run: Run, folder: Path) -> None:
    """Write report.html, report.md with the same tables, and summary.md."""
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "summary.md").write_text(as_summary(run), encoding="utf-8")
    (folder / "report.md").write_text(as_markdown(run), encoding="utf-8")
    (folder / "report.html").write_text(as_html(run), encoding="utf-8")


def outcomes(run: Run) -> dict[str, tuple[str, list[Check]]]:
    """Return the outcome of each experiment and the checks that it follows from."""
    found = {}
    for name, results in run.results.items():
        checks = EXPERIMENTS[name].checks(results) if results else []
        found[name] = outcome(checks), checks
    return found


def about(run: Run) -> str:
    """Return what was run, with what, and how to do it again."""
    seed = f" --seed {run.settings.seed}" if run.settings.seed else ""
    quick = " --quick" if run.settings.quick else ""
    counts = sorted(set(run.repeats.values()))
    repeats = f"{counts[0]}" if len(counts) == 1 else f"{counts[0]} to {counts[-1]}"
    names = "--all" if set(run.results) == set(EXPERIMENTS) else " ".join(run.results)
    return (
        f"Made by `sslart reproduce {names}{quick}{seed}` with sslart {__version__}, numpy {numpy.__version__}, "
        f"scikit-learn {sklearn.__version__}, Python {platform.python_version()}. Each experiment was repeated "
        f"{repeats} times. Cells are mean ± standard deviation, and in brackets the bootstrap 95 % interval of the "
        "mean. Columns with a grey background (in italics in Markdown) are quoted from the paper; all others were "
        "measured."
    )


def explained(checks: list[Check], experiment: Experiment) -> str:
    """Return how many statements hold, and the likely reason where some do not."""
    held = sum(check.holds for check in checks)
    text = f"{held} of {len(checks)} statements hold."
    return text if held == len(checks) else f"{text} Likely reason where they do not: {experiment.reason}"


# ---- Markdown


def as_markdown(run: Run) -> str:
    """Return the report as Markdown."""
    parts = ["# The experiments of the paper, reproduced", about(run), _markdown(_overview(run))]
    for name, (word, checks) in outcomes(run).items():
        experiment = EXPERIMENTS[name]
        parts += [f"## {experiment.title}", experiment.question]
        parts += [f"Not run on {dataset}: {WHY_NOT}" for dataset in _missing(run, name)]
        if run.results[name]:
            parts += [f"**Outcome: {WORDS[word]}.** {explained(checks, experiment)}", _markdown(_statements(checks))]
            parts += [f"### {table.title}\n\n{_markdown(table)}" for table in experiment.tables(run.results[name])]
    return "\n\n".join(parts) + "\n"


def as_summary(run: Run) -> str:
    """Return the outcomes as Markdown, each with the statements that it follows from."""
    parts = ["# What of the paper holds", about(run), _markdown(_overview(run))]
    for name, (word, checks) in outcomes(run).items():
        experiment = EXPERIMENTS[name]
        parts += [f"## {experiment.title}: {WORDS[word]}", experiment.question]
        parts += [f"Not run on {dataset}: {WHY_NOT}" for dataset in _missing(run, name)]
        if checks:
            parts += [explained(checks, experiment), _markdown(_statements(checks))]
    return "\n\n".join(parts) + "\n"


def _markdown(table: Table) -> str:
    quoted = [[f"*{cell}*" if n in table.quoted else cell for n, cell in enumerate(row)] for row in table.rows]
    return markdown_table(table.header, quoted)


def _overview(run: Run) -> Table:
    rows = [
        [EXPERIMENTS[name].title, WORDS[word], f"{sum(check.holds for check in checks)} of {len(checks)}"]
        for name, (word, checks) in outcomes(run).items()
    ]
    return Table("Outcomes", ["experiment", "outcome", "statements that hold"], rows)


def _statements(checks: Iterable[Check]) -> Table:
    rows = [[check.statement, "yes" if check.holds else "no", check.evidence] for check in checks]
    return Table("Statements", ["statement of the paper", "holds", "measured"], rows)


def _missing(run: Run, name: str) -> list[str]:
    return [dataset for one, dataset in run.missing if one == name]


# ---- HTML


def as_html(run: Run) -> str:
    """Return the report as one page with style and pictures inside."""
    found = outcomes(run)
    body = ["<h1>The experiments of the paper, reproduced</h1>", f"<p>{_inline(about(run))}</p>"]
    overview = _overview(run)
    rows: list[list[str | Cell]] = [
        [Cell(f'<a href="#{name}">{escape(title)}</a>', is_html=True), Cell(_badge(word), is_html=True), held]
        for (name, (word, _)), (title, _, held) in zip(found.items(), overview.rows, strict=True)
    ]
    body.append(f'<div class="wide">{html_table(overview.header, rows)}</div>')
    for name, (word, checks) in found.items():
        body.append(_section(run, name, word, checks))
    style = resources.files(__package__).joinpath("report.css").read_text(encoding="utf-8")
    return (
        '<!doctype html>\n<html lang="en"><head><meta charset="utf-8">'
        '<meta name="viewport" content="width=device-width, initial-scale=1">'
        f"<title>sslart: the paper's experiments</title><style>{style}</style></head>"
        f"<body><main>{''.join(body)}</main></body></html>\n"
    )


def _section(run: Run, name: str, word: str, checks: list[Check]) -> str:
    experiment, results = EXPERIMENTS[name], run.results[name]
    parts = [f'<section id="{name}"><h2>{escape(experiment.title)}</h2>', f"<p>{_inline(experiment.question)}</p>"]
    parts += [f"<p><b>Not run on {escape(data)}:</b> {_inline(WHY_NOT)}</p>" for data in _missing(run, name)]
    if results:
        parts.append(f"<p>{_badge(word)} {escape(explained(checks, experiment))}</p>")
        parts.append(_picture(experiment, results))
        parts.append(_html(_statements(checks)))
        for table in experiment.tables(results):
            parts.append(f"<details open><summary>{escape(table.title)}</summary>{_html(table)}</details>")
    table_name = TABLES_OF.get(name)
    odd = _paper.oddities(table_name) if table_name else []
    if odd:
        items = "".join(f"<li>{escape(one.oddity)}</li>" for one in odd)
        parts.append(f"<details><summary>Oddities of the printed table</summary><ul>{items}</ul></details>")
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
