"""Cost of an explanation: 1,000 samples of models of about 2,000 boxes and 30 features, against predicting them."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.datasets import make_classification

from data import mixture
from sslart import SSLART, AutoSSLART
from sslart._mapping.evidence.boxes import BoxTerm
from sslart._mapping.model_view import view_of
from sslart._utils.text import markdown_table
from timing import in_turns, median, ratio, seconds

N_SAMPLES, N_FEATURES, N_BOXES = 1000, 30, 2000
REPEATS = 10  # predictions in a turn, so that a busy machine disturbs both alike
TURNS, QUICK_TURNS = 15, 5
LIMIT, SHAP_LIMIT, BOX_LIMIT = 30, 100, 20
SHAP_SAMPLES, SHAP_BACKGROUND, SHAP_ROWS = 2048, 100, 3


def evidence_model(n_classes: int = 3) -> tuple[Any, np.ndarray]:
    """Return AutoSSLART with about 2,000 boxes, a tenth of 4,000 samples labelled, and 1,000 samples to explain."""
    X, y = make_classification(
        4000 + N_SAMPLES,
        N_FEATURES,
        n_informative=12,
        n_redundant=6,
        n_classes=n_classes,
        n_clusters_per_class=3,
        random_state=0,
    )
    labels = np.where(np.arange(4000) % 10 == 0, y[:4000], -1)
    return AutoSSLART(random_state=0).fit(X[:4000], labels), X[4000:]


def mixture_model() -> tuple[Any, np.ndarray]:
    """Return a model whose boxes have several bandwidths, each of which is divided among features by itself."""
    X, y = mixture(11_000, N_FEATURES)
    labels = np.where(np.arange(10_000) % 10 == 0, y[:-N_SAMPLES] % 3, -1)
    return SSLART(0.852, mapping="evidence", random_state=0).fit(X[:-N_SAMPLES], labels), X[-N_SAMPLES:]


def n_bandwidths(model: Any) -> int:
    """Return the number of bandwidths of a model's boxes that predictions use."""
    (member,) = view_of(model).members
    weights = [term.weights for term in member.readout.terms if isinstance(term, BoxTerm)]
    return sum(int(of_level.any()) for own in weights for of_level in own)


def read_evidence(explanations: list[Any]) -> int:
    """Read what an explanation leads with: parts are computed when they are read."""
    return sum(len(one.evidence.shown) for one in explanations)


def times_of_predict(model: Any, work: dict[str, Any], test: np.ndarray, turns: int) -> tuple[float, dict[str, float]]:
    """Return the seconds of predicting all samples, and how many times as long each piece of work takes."""
    taken = in_turns({"predict": lambda: [model.predict(test) for _ in range(REPEATS)], **work}, turns)
    return median(taken["predict"]) / REPEATS, {name: REPEATS * ratio(taken, name, "predict") for name in work}


@dataclass(frozen=True)
class Timing:
    """Time of the explanations of one model with evidence mapping.

    Attributes
    ----------
    model : str
    n_classes, n_boxes, n_bandwidths : int
    predict : float
        Seconds, for all samples.
    contributions, explain, text : float
        Times `predict`: the arrays; explanations with what they show read; explanations as text.
    kernel_explainer : float
        Times `explain`: shap's KernelExplainer.
    one_sample, first_call : float
        Seconds: the contributions of one sample, and what the first call takes more.
    """

    model: str
    n_classes: int
    n_boxes: int
    n_bandwidths: int
    predict: float
    contributions: float
    explain: float
    text: float
    kernel_explainer: float
    one_sample: float
    first_call: float


def timing(model: Any, test: np.ndarray, turns: int) -> Timing:
    model.predict(test)
    first = seconds(lambda: model.contributions(test[:1]))
    one = median([seconds(lambda: model.contributions(test[:1])) for _ in range(20)])
    work = {
        "contributions": lambda: model.contributions(test),
        "explain": lambda: read_evidence(model.explain(test)),
        "text": lambda: [str(explanation) for explanation in model.explain(test)],
    }
    for run in work.values():
        run()
    predict, times = times_of_predict(model, work, test, turns)
    shap = shap_seconds(model, test) / (times["explain"] * predict)
    size = len(model.classes_), model.n_nodes_, n_bandwidths(model)
    return Timing(type(model).__name__, *size, predict, *times.values(), shap, one, first - one)


def timings(quick: bool) -> list[Timing]:
    """Return the time of the explanations of three models."""
    models = (evidence_model(2), evidence_model(3), mixture_model())
    return [timing(model, test, QUICK_TURNS if quick else TURNS) for model, test in models]


def of_evidence(found: Sequence[Timing]) -> str:
    head = ["model", "classes", "boxes", "bandwidths", "predict", "contributions", "explain", "text"]
    rows = [
        [
            one.model,
            str(one.n_classes),
            f"{one.n_boxes:,}",
            str(one.n_bandwidths),
            f"{1e3 * one.predict:.1f} ms",
            f"{one.contributions:.1f}",
            f"{one.explain:.1f}",
            f"{one.text:.1f}",
            f"{one.kernel_explainer:,.0f}",
            f"{1e3 * one.one_sample:.2f} ms",
            f"{1e3 * one.first_call:.0f} ms",
        ]
        for one in found
    ]
    return (
        f"{N_SAMPLES:,} samples of {N_FEATURES} features, models with about {N_BOXES:,} boxes: `AutoSSLART` on what "
        "scikit-learn's `make_classification` makes, `SSLART` with evidence mapping on a mixture of Gaussians; one "
        "thread. *Bandwidths*: so many times each box is divided among the features. The columns after the time of "
        "`predict` have how many times as long something else takes, the median over the turns: `contributions(X)`; "
        "`explain(X)` with the contributions to show read; the same as text. *KernelExplainer*: how many times as "
        f"long as `explain(X)` shap's takes with {SHAP_SAMPLES:,} samples against {SHAP_BACKGROUND} background "
        f"samples, timed on {SHAP_ROWS} rows. *One sample*: a call of `contributions` for it. *First call*: what it "
        "takes more, as the average that samples are compared with is computed once.\n\n"
        + markdown_table([*head, "KernelExplainer", "one sample", "first call"], rows)
    )


def shap_seconds(model: Any, test: np.ndarray) -> float:
    """Return the time that KernelExplainer would need for all samples, from a few of them."""
    import shap

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        explainer = shap.KernelExplainer(model.predict_proba, test[-SHAP_BACKGROUND:])
        work = seconds(lambda: explainer.shap_values(test[:SHAP_ROWS], nsamples=SHAP_SAMPLES, silent=True))
    return work * len(test) / SHAP_ROWS


def read_boxes(explanations: list[Any]) -> int:
    """Read the boxes that predictions follow from, and the changes."""
    return sum(len(why.box.feature_matches) + len(why.counterfactual.changes) for why in explanations)


def read_all(explanations: list[Any]) -> int:
    """Read every part of every explanation."""
    n_parts = read_boxes(explanations)
    for why in explanations:
        n_parts += len(why.opposing_box.feature_matches) + len(why.search_path)
        n_parts += (why.novelty is not None) + (why.advice is not None)
    return n_parts


def of_boxes(quick: bool) -> str:
    """Measure the explanations of one-to-many mapping, where one box decides."""
    X, y = mixture(11_000, N_FEATURES)
    training, test = X[:-N_SAMPLES], X[-N_SAMPLES:]
    rows = []
    for name, one_label_in, depth in (("all", 1, None), ("1 in 10", 10, None), ("1 in 10, T = 5", 10, 5)):
        labels = np.where(np.arange(len(training)) % one_label_in == 0, y[:-N_SAMPLES], -1)
        model = SSLART(0.852, search_depth=depth, random_state=0).fit(training, labels)
        work = {
            "explain": lambda: model.explain(test),
            "boxes": lambda: read_boxes(model.explain(test)),
            "all": lambda: read_all(model.explain(test)),
        }
        model.predict(test)
        predict, times = times_of_predict(model, work, test, QUICK_TURNS if quick else TURNS)
        rows.append([name, f"{model.n_nodes_:,}", f"{1e3 * predict:.1f} ms", *(f"{times[part]:.1f}" for part in work)])
    return (
        "The same for `SSLART` with one-to-many mapping on a mixture of Gaussians, where one box decides: "
        f"`explain(X)`; with the boxes and the changes read (limit: {BOX_LIMIT}); with every part read.\n\n"
        + markdown_table(["labels", "boxes", "predict", "explain", "boxes and changes", "every part"], rows)
    )


def section(found: Sequence[Timing], quick: bool) -> str:
    return f"## Speed\n\n{of_evidence(found)}\n\n{of_boxes(quick)}"
