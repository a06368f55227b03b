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
from sslart.experiments import _paper
from sslart.experiments._framework.experiment import Check, Experiment, Results, Table, verdict
from sslart.experiments._runner.registry import EXPERIMENTS
from sslart.experiments._runner.run import Run

WHY_NOT = "its files were not on the machine; `sslart data fetch NAME` says how to get them."
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
    """Write report.html, report.md with the same tables, and verdicts.md, which is the short of it."""
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "verdicts.md").write_text(as_verdicts(run), encoding="utf-8")
    (folder / "report.md").write_text(as_markdown(run), encoding="utf-8")
    (folder / "report.html").write_text(as_html(run), encoding="utf-8")


def verdicts(run: Run) -> dict[str, tuple[str, list[Check]]]:
    """Return the verdict on each experiment and the checks it rests on."""
    found = {}
    for name, results in run.results.items():
        checks = EXPERIMENTS[name].checks(results) if results else []
        found[name] = verdict(checks), checks
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
        f"scikit-learn "
        f"{sklearn.__version__}, Python {platform.python_version()}. Each experiment was repeated {repeats} times. "
        f"Cells "
        "are mean ± standard deviation, and in brackets the bootstrap 95 % interval of the mean. Columns with a grey "
        "background (in italics in Markdown) are quoted from the paper; all others were measured."
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
    for name, (word, checks) in verdicts(run).items():
        experiment = EXPERIMENTS[name]
        parts += [f"## {experiment.title}", experiment.question]
        parts += [f"Not run on {dataset}: {WHY_NOT}" for dataset in _missing(run, name)]
        if run.results[name]:
            parts += [f"**Verdict: {WORDS[word]}.** {explained(checks, experiment)}", _markdown(_statements(checks))]
            parts += [f"### {table.title}\n\n{_markdown(table)}" for table in experiment.tables(run.results[name])]
    return "\n\n".join(parts) + "\n"


def as_verdicts(run: Run) -> str:
    """Return the verdicts as Markdown, each with the statements it rests on."""
    parts = ["# What of the paper holds", about(run), _markdown(_overview(run))]
    for name, (word, checks) in verdicts(run).items():
        experiment = EXPERIMENTS[name]
        parts += [f"## {experiment.title}: {WORDS[word]}", experiment.question]
        parts += [f"Not run on {dataset}: {WHY_NOT}" for dataset in _missing(run, name)]
        if checks:
            parts += [explained(checks, experiment), _markdown(_statements(checks))]
    return "\n\n".join(parts) + "\n"


def _markdown(table: Table) -> str:
    lines = ["| " + " | ".join(table.header) + " |", "|" + "---|" * len(table.header)]
    for row in table.rows:
        cells = [f"*{cell}*" if place in table.quoted else cell for place, cell in enumerate(row)]
        lines.append("| " + " | ".join(cell.replace("|", "\\|") for cell in cells) + " |")
    return "\n".join(lines)


def _overview(run: Run) -> Table:
    rows = [
        [EXPERIMENTS[name].title, WORDS[word], f"{sum(check.holds for check in checks)} of {len(checks)}"]
        for name, (word, checks) in verdicts(run).items()
    ]
    return Table("Verdicts", ["experiment", "verdict", "statements that hold"], rows)


def _statements(checks: Iterable[Check]) -> Table:
    rows = [[check.statement, "yes" if check.holds else "no", check.evidence] for check in checks]
    return Table("Statements", ["the paper says", "holds", "measured"], rows)


def _missing(run: Run, name: str) -> list[str]:
    return [dataset for one, dataset in run.missing if one == name]


# ---- HTML


def as_html(run: Run) -> str:
    """Return the report as one page with style and pictures inside."""
    judged = verdicts(run)
    body = ["<h1>The experiments of the paper, reproduced</h1>", f"<p>{_inline(about(run))}</p>"]
    rows = "".join(
        f'<tr><td><a href="#{name}">{escape(EXPERIMENTS[name].title)}</a></td>'
        f'<td><span class="verdict {word.replace(" ", "-")}">{WORDS[word]}</span></td>'
        f"<td>{sum(check.holds for check in checks)} of {len(checks)}</td></tr>"
        for name, (word, checks) in judged.items()
    )
    body.append(
        '<div class="wide"><table><thead><tr><th>experiment</th><th>verdict</th><th>statements that hold</th></tr>'
        "</thead>"
        f"<tbody>{rows}</tbody></table></div>"
    )
    for name, (word, checks) in judged.items():
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
        parts.append(
            f'<p><span class="verdict {word}">{WORDS[word]}</span> {escape(explained(checks, experiment))}</p>'
        )
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
    def cells(row: Iterable[str], tag: str) -> str:
        return "".join(
            f"<{tag}{' class=quoted' if place in table.quoted else ''}>{escape(cell)}</{tag}>"
            for place, cell in enumerate(row)
        )

    body = "".join(f"<tr>{cells(row, 'td')}</tr>" for row in table.rows)
    head = f"<tr>{cells(table.header, 'th')}</tr>"
    return f'<div class="wide"><table><thead>{head}</thead><tbody>{body}</tbody></table></div>'


def _inline(text: str) -> str:
    """Return text with `code` marked up."""
    pieces = escape(text).split("`")
    return "".join(f"<code>{piece}</code>" if place % 2 else piece for place, piece in enumerate(pieces))
