"""The report: one HTML file that shows a model, its answers, their quality and their limits, without a network.

Observed, summarised, drawn and rendered in separate steps; only the last one writes. Jinja2 and matplotlib are imported
only when a report is made: ``pip install "sslart[report]"``.
"""

from __future__ import annotations

import dataclasses
import importlib
import os
from collections.abc import Sequence
from datetime import date
from functools import cache
from importlib.metadata import version
from pathlib import Path
from typing import Any

from sklearn.utils.validation import check_is_fitted

from sslart._utils.files import write_atomically
from sslart._utils.params import check_whole
from sslart.estimators._classifier import AbstainingClassifier
from sslart.explain._format_values import number
from sslart.explain._search import speaks
from sslart.metrics._quality import Estimate
from sslart.plotting import _style as draw
from sslart.reporting._pictures import pictures_of
from sslart.reporting._rules import rule_lines, rule_numbers
from sslart.reporting._samples import chosen_rows, sample_lines, states_of
from sslart.reporting._summary import Observed, observe, summarise
from sslart.rules import RuleSet

STATES = ("wrong", "abstained", "novel", "right")


def report(
    model: Any,
    X: Any,
    y: Any,
    path: str | os.PathLike[str],
    *,
    title: str | None = None,
    held_out: bool | None = None,
    rules: RuleSet | None = None,
    sample_names: Sequence[Any] | None = None,
    max_rules: int = 200,
    max_samples: int = 200,
) -> Path:
    """Write a report on a model and its answers: one HTML file that needs no network.

    It shows the data and labels, the quality of the answers with 95 % intervals, what the model does not know, the
    rules (to sort and filter), pictures, and for each sample that a reader picks why it got its answer.

    Parameters
    ----------
    model : SSLART, FuzzyARTMAP or WESSLART
        A fitted classifier. It is not changed.
    X : array-like of shape (n_samples, n_features)
        The samples that the report is about. Their values get into the file.
    y : array-like of shape (n_samples,), or None
        Their true classes; -1, None or NaN where not known. Quality is measured on those that have one.
    path : str or path
        The file to write. An older one is replaced only when the new one is complete.
    title : str, default=None
        Headline. None: one that names the model.
    held_out : bool, default=None
        Whether the model had not met these samples before. The report says so to its reader; None: that it is not
        stated.
    rules : RuleSet, default=None
        What to show of ``model.rules()``, such as ``model.rules(levels=3, simplify=(X, y))``. None: all.
    sample_names : sequence of shape (n_samples,), default=None
        What the samples are called, beside their row number.
    max_rules : int, default=200
        How many rules to show: those with most samples.
    max_samples : int, default=200
        How many samples to explain: wrong answers first, then those without an answer, then novel ones, then an even
        spread of the others.

    Returns
    -------
    pathlib.Path
        The file written.

    Examples
    --------
    >>> import tempfile, sslart
    >>> from pathlib import Path
    >>> from sklearn.datasets import load_iris
    >>> data = load_iris(as_frame=True)
    >>> y = data.target_names[data.target]
    >>> model = sslart.SSLART(vigilance=0.7, random_state=0).fit(data.data[::2], y[::2])
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     file = sslart.report(model, data.data[1::2], y[1::2], Path(folder) / "iris.html", held_out=True)
    ...     "What this model does not know" in file.read_text(encoding="utf-8")
    True
    """
    target = _check_path(path)
    _check_extra()
    if not isinstance(model, AbstainingClassifier):
        raise TypeError(
            f"report takes a fitted SSLART, FuzzyARTMAP or WESSLART, got a {type(model).__name__}. Of a pipeline give "
            "the last step, and X as that step gets it."
        )
    check_is_fitted(model)
    n_rules = check_whole("report", "max_rules", max_rules) or 1
    n_samples = check_whole("report", "max_samples", max_samples) or 1
    observed = observe(model, X, y)
    learnt = model.rules() if rules is None else _check_rules(rules, observed)
    names = None if sample_names is None else _check_names(sample_names, len(observed))
    states = [states_of(observed, row) for row in range(len(observed))]
    summary = summarise(observed, X)
    samples = sample_lines(observed, X, chosen_rows(states, n_samples), names, rule_numbers(learnt))
    page = (
        _environment()
        .get_template("report.html.jinja")
        .render(
            title=title or f"What {type(model).__name__} has learnt, and how well it answers",
            made=date.today().isoformat(),
            version=version("sslart"),
            model=_described(observed),
            held_out=held_out,
            classes=observed.classes,
            colours={label: draw.style(place).colour for place, label in enumerate(observed.classes)},
            summary=summary,
            figures=dataclasses.asdict(summary),
            rules=rule_lines(learnt, n_rules),
            n_rules=len(learnt),
            pictures=pictures_of(observed, learnt, X, y),
            samples=samples,
            state_counts={state: sum(state in one.states for one in samples) for state in STATES},
        )
    )
    write_atomically(target, [page.encode()])
    return target


def _check_path(path: str | os.PathLike[str]) -> Path:
    target = Path(path)
    if target.is_dir():
        raise IsADirectoryError(f"{target} is a folder: give the name of a file, such as {target / 'report.html'}.")
    if not target.parent.is_dir():
        raise FileNotFoundError(f"There is no folder {target.parent}: make it first, or give another path.")
    return target


def _check_rules(rules: Any, observed: Observed) -> RuleSet:
    if not isinstance(rules, RuleSet):
        raise TypeError(f"rules must be a RuleSet, as model.rules() gives, got a {type(rules).__name__}.")
    if not rules or list(rules.feature_names) != observed.names:
        raise ValueError("rules has no rule of this model: give model.rules(), filtered less.")
    return rules


def _check_names(sample_names: Sequence[Any], n_samples: int) -> list[str]:
    names = [str(name) for name in sample_names]
    if len(names) != n_samples:
        raise ValueError(f"X has {n_samples} samples and sample_names {len(names)}: give one name for each sample.")
    return names


def _described(observed: Observed) -> dict[str, Any]:
    """Return what the model is, in figures."""
    model, members = observed.model, len(observed.members)
    return {
        "kind": type(model).__name__,
        "speaks": speaks(model),
        "abstain_below": model.abstain_below,
        "n_members": members,
        "n_boxes": model.n_nodes_,
        "n_learnt": int(model.support_.sum()) // members,
        "n_labels": int(model.counts_.sum()) // members,
        "parameters": {name: value for name, value in model.get_params().items() if value is not None},
    }


def _check_extra() -> None:
    try:
        for module in ("jinja2", "matplotlib.pyplot"):
            importlib.import_module(module)
    except ImportError as error:
        raise ImportError('The report is made with Jinja2 and matplotlib: pip install "sslart[report]".') from error


@cache
def _environment() -> Any:
    import jinja2

    environment = jinja2.Environment(
        loader=jinja2.PackageLoader("sslart.reporting", "templates"),
        autoescape=True,
        undefined=jinja2.StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.filters |= {"number": number, "percent": _percent, "interval": _interval, "counted": draw.plural}
    return environment


def _percent(value: float | None) -> str:
    return "–" if value is None else f"{100 * value:.1f}\N{NO-BREAK SPACE}%"


def _interval(estimate: Estimate) -> str:
    if estimate.low is None or estimate.high is None:
        return "nothing to count"
    return f"{100 * estimate.low:.1f} to {_percent(estimate.high)}"
