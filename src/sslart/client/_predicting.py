"""Requests that read a model: predictions, explanations, rules, exports."""

from __future__ import annotations

from collections.abc import Generator, Iterable, Mapping, Sequence
from typing import Any, Literal
from urllib.parse import quote

from sslart._utils.optional import heavy
from sslart.client._flows import Flow, Request, get, post
from sslart.client._results import Prediction, Predictions, State
from sslart.client._rows import batches, plain, rows_of

Format = Literal["sslart", "onnx", "report", "rules_sql", "rules_python", "rules_csv", "labels_csv", "script", "card"]

MAX_EXPLAINED = 100  # rows in one request: each explanation takes some milliseconds


def path_of(name: str, *rest: str | int) -> str:
    """Return the path of a model or of one of its resources."""
    return "/".join(("/v1/models", *(quote(str(part), safe="") for part in (name, *rest))))


def predict(name: str, X: Any, *, explain: bool = False, abstain_below: float | None = None) -> Flow[Predictions]:
    """Predict samples. The service keeps nothing of them.

    Parameters
    ----------
    name : str
        The model.
    X : list of dicts, DataFrame, or array of shape (n_samples, n_features)
        An array is for models that have learnt features without names. More than 1,000 rows go in several requests.
    explain : bool, default=False
        Whether to explain each prediction.
    abstain_below : float, default=None
        Abstain where no class is so probable, in place of the setting of the model.

    Returns
    -------
    Predictions
    """
    options = {"explain": explain} | ({} if abstain_below is None else {"abstain_below": abstain_below})
    parts = []
    for (rows,) in batches(rows_of(X)):
        answer = yield post(path_of(name, "predict"), {"rows": rows, **options}, is_repeatable=True)
        parts.append(answer.json())
    return joined(parts)


def joined(parts: Sequence[Mapping[str, Any]]) -> Predictions:
    """Return the answers to several requests as one."""
    found = tuple(Prediction.of(one) for part in parts for one in part["predictions"])
    return Predictions(parts[-1]["model"], parts[-1]["sequence"], found)


def explain(name: str, X: Any) -> Flow[list[dict[str, Any]]]:
    """Explain the predictions for samples: feature contributions, similar boxes, and counterfactuals.

    Parameters
    ----------
    name : str
        The model.
    X : list of dicts, DataFrame, or array of shape (n_samples, n_features)

    Returns
    -------
    list of dict
        One for each sample; the item "text" has it in words.
    """
    found: list[dict[str, Any]] = []
    for (rows,) in batches(rows_of(X), size=MAX_EXPLAINED):
        answer = yield post(path_of(name, "explain"), {"rows": rows}, is_repeatable=True)
        found += answer.json()["explanations"]
    return found


def contributions(name: str, X: Any) -> Flow[dict[str, Any]]:
    """Return the contribution of each feature to the score of each class.

    Parameters
    ----------
    name : str
        The model.
    X : list of dicts, DataFrame, or array of shape (n_samples, n_features)
        At most 1,000 samples.

    Returns
    -------
    dict
        With the items features, classes, base, values, graph and scores, as lists.
    """
    return read_json(post(path_of(name, "contributions"), {"rows": rows_of(X)}, is_repeatable=True))


def counterfactual(
    name: str,
    row: Mapping[str, Any],
    target: Any = None,
    *,
    fixed: Iterable[str] = (),
    ranges: Mapping[str, Sequence[Any]] | None = None,
    n: int = 3,
    plausible: bool = False,
) -> Flow[dict[str, Any]]:
    """Return counterfactuals of a sample: small changes, each with a different prediction.

    Parameters
    ----------
    name : str
        The model.
    row : dict
        The sample.
    target : class, default=None
        The class that is wanted; None for any other than the present one.
    fixed : iterable of str, default=()
        Features that never change.
    ranges : dict, default=None
        By feature: of a number (low, high), of a category those that are allowed.
    n : int, default=3
        How many changes are wanted.
    plausible : bool, default=False
        Whether to return only changes to samples like those that were learnt.

    Returns
    -------
    dict
        The item "text" has it in words.
    """
    (cells,) = rows_of([row])
    limits = {feature: [plain(one) for one in values] for feature, values in (ranges or {}).items()}
    body = {"row": cells, "target": plain(target), "fixed": list(fixed), "ranges": limits, "n": n}
    request = post(path_of(name, "counterfactual"), {**body, "plausible": plausible}, is_repeatable=True)
    return read_json(request)


def rules(name: str, *, max_rules: int = 12, max_conditions: int = 4) -> Flow[dict[str, Any]]:
    """Return few, short rules that agree with the predictions of a model.

    Parameters
    ----------
    name : str
        The model.
    max_rules, max_conditions : int, default=12 and 4
        How many rules there are at most, and how many conditions a rule has.

    Returns
    -------
    dict
        The item "text" has them in words.
    """
    return read_json(get(path_of(name, "rules"), max_rules=max_rules, max_conditions=max_conditions))


def importance(name: str) -> Flow[dict[str, Any]]:
    """Return the importance of each feature of a model, and its direction.

    Parameters
    ----------
    name : str
        The model.

    Returns
    -------
    dict
        The item "text" has it in words.
    """
    return read_json(get(path_of(name, "importance")))


def drift(name: str) -> Flow[list[dict[str, Any]]]:
    """Return the drifts that were found in the stream since the last fit.

    Parameters
    ----------
    name : str
        The model.

    Returns
    -------
    list of dict
    """
    answer = yield get(path_of(name, "drift"))
    return list(answer.json()["drifts"])


def features(name: str) -> Flow[dict[str, str]]:
    """Return the features of a model in their order, and whether each is a number or a category.

    Parameters
    ----------
    name : str
        The model.

    Returns
    -------
    dict
        From the name of the feature to "number" or "category".
    """
    answer = yield get(f"/v2/models/{quote(name, safe='')}")
    kinds = {"BYTES": "category"}
    return {one["name"]: kinds.get(one["datatype"], "number") for one in answer.json()["inputs"]}


def state(name: str) -> Flow[State]:
    """Return the state of a model: the same digest means the same model in every bit.

    Parameters
    ----------
    name : str
        The model.

    Returns
    -------
    State
    """
    answer = yield get(path_of(name, "state"))
    return State.of(answer.json())


def export(name: str, format: Format = "sslart") -> Flow[bytes]:
    """Export a model, or a document about it, as the content of a file.

    Parameters
    ----------
    name : str
        The model.
    format : str, default="sslart"
        "sslart" for `sslart.load`, "onnx" for ONNX runtimes, "report" and "card" as HTML pages to read; "rules_sql",
        "rules_python" and "rules_csv"; "labels_csv", all labelled rows; or "script", a zip file with the data and a
        script that makes the same model again.

    Returns
    -------
    bytes
    """
    content = yield from _exported(name, format)
    return content


def load(name: str) -> Flow[Any]:
    """Return a copy of the current model: a fitted estimator of the library in this process.

    Parameters
    ----------
    name : str
        The model.

    Returns
    -------
    AutoSSLART, SSLART, WESSLART or FuzzyARTMAP
    """
    content = yield from _exported(name, "sslart")
    return heavy("sslart.persistence").model_from_bytes(content, f"The model {name!r}")


def _exported(name: str, format: str) -> Generator[Request, Any, bytes]:
    answer = yield get(path_of(name, "export"), format=format)
    content: bytes = answer.content
    return content


def read_json(request: Request) -> Generator[Request, Any, dict[str, Any]]:
    """Send a request, and return its answer as parsed JSON."""
    answer = yield request
    found: dict[str, Any] = answer.json()
    return found
