"""Operations of the service: the methods of both clients, each written once with its documentation."""

from __future__ import annotations

import functools
import inspect
import io
import math
import os
import textwrap
import time
import uuid
from collections.abc import Callable, Collection, Coroutine, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Concatenate, Generic, Literal, ParamSpec, overload
from urllib.parse import quote

import numpy as np
from numpy.typing import NDArray

from sslart._utils.optional import heavy
from sslart.client._connection import Connection, Request, Result, get, post, run
from sslart.client._results import (
    Accepted,
    Job,
    Prediction,
    Predictions,
    State,
    UnreachableError,
    WrongRequestError,
)

if TYPE_CHECKING:
    from sslart.client._client import AsyncClient, Client

MAX_ROWS = 1000  # in one request
MAX_EXPLAINED = 100  # rows in one request: each explanation takes some milliseconds
MAX_WAIT = 20.0  # seconds that one request waits for a fit; then its job is polled
MAX_SECONDS = 600.0  # time limit of a trial or a comparison of a table
SECONDS_BETWEEN_LOOKS = 1.0  # polling interval of a job
SECONDS_UNTIL_READY = 0.1  # polling interval while a service starts

Given = ParamSpec("Given")
Row = dict[str, Any]
Learning = Literal["familiar", "all", "none"]
Estimator = Literal["AutoSSLART", "SSLART", "WESSLART", "FuzzyARTMAP"]
Format = Literal["sslart", "onnx", "report", "rules_sql", "rules_python", "rules_csv", "labels_csv", "script", "card"]
Scope = Literal["read", "learn", "admin"]

# documentation of parameters: the type, if the annotation does not show it, a bar, and the description
_FIT_WAIT = "Seconds to wait for the fit. None waits until it has ended, 0 does not wait."
_JOB = "If the fit fails, a WrongRequestError is raised."
_PARAMETERS = {
    "name": "The model.",
    "X": "list of dicts, DataFrame, or array of shape (n_samples, n_features) | More than 1,000 rows are sent in "
    "several requests. An array is for models whose features have no names.",
    "row": "The sample as a dict from feature to value.",
    "table": "pandas DataFrame, path, or bytes | A table as CSV, TSV, Parquet, Arrow or Excel.",
    "encoding": "Encoding of text; detected if None.",
    "ids": "An ID for each sample, by which it can be labelled later.",
    "explain": "Whether to explain each prediction.",
    "key": "Idempotency-Key: repeating a call with the same key within seven days has no further effect. None creates "
    "one for the retries of this call.",
    "wait": "Seconds to wait until all samples are learnt, at most 600.",
    "after": "The last entry already received.",
    "most": "Maximum number.",
    "n": "Maximum number.",
    "sequence": "Number of the job.",
    "feature": "Name of the feature.",
}


class Operation(Generic[Given, Result]):
    """A coroutine method of `AsyncClient` that is also a blocking method of `Client`.

    Sections on parameters and the result are added to the docstring from the signature, `_PARAMETERS`, and `words`,
    with the key `returns` for the result.
    """

    def __init__(
        self, method: Callable[Concatenate[Any, Given], Coroutine[Any, Any, Result]], words: Mapping[str, str]
    ) -> None:
        self.coroutine = method
        signature, words = inspect.signature(method), {**_PARAMETERS, **words}
        lines = [inspect.cleandoc(method.__doc__ or "")]
        if parameters := list(signature.parameters.values())[1:]:
            lines += ["", "Parameters", "----------"]
        for one in parameters:
            kind, _, text = words[one.name].rpartition(" | ")
            default = "" if one.default is one.empty else f", default={one.default!r}"
            lines += [f"{str(one).partition(':')[0]} : {kind or one.annotation}{default}", _indented(text)]
        if signature.return_annotation != "None":
            lines += ["", "Returns", "-------", str(signature.return_annotation)]
            lines += [_indented(words["returns"])] if "returns" in words else []
        method.__doc__ = "\n".join(lines)

    def waiting(self) -> Callable[..., Any]:
        """Return the blocking method."""

        @functools.wraps(self.coroutine)
        def method(*args: Any, **kwargs: Any) -> Any:
            return run(self.coroutine(*args, **kwargs))

        return method

    if TYPE_CHECKING:

        @overload
        def __get__(self, client: Client, kind: type) -> Callable[Given, Result]: ...
        @overload
        def __get__(self, client: AsyncClient, kind: type) -> Callable[Given, Coroutine[Any, Any, Result]]: ...
        @overload
        def __get__(self, client: None, kind: type) -> Callable[..., Any]: ...
        def __get__(self, client: object, kind: type) -> Callable[..., Any]: ...


def _indented(text: str) -> str:
    return textwrap.fill(text, 112, initial_indent="    ", subsequent_indent="    ")


def documented(
    **words: str,
) -> Callable[[Callable[Concatenate[Any, Given], Coroutine[Any, Any, Result]]], Operation[Given, Result]]:
    """Make an operation of a coroutine method; `words` documents parameters in place of `_PARAMETERS`."""
    return lambda method: Operation(method, words)


def _path(name: str, *rest: str | int) -> str:
    """Return the path of a model or of one of its resources."""
    return "/".join(("/v1/models", *(quote(str(part), safe="") for part in (name, *rest))))


def _read(path: str, body: Any) -> Request:
    """Return a read request with a body, for queries that do not fit in the URL."""
    return post(path, body, is_repeatable=True)


class Operations:
    """All requests to a service as coroutines; `Client` turns them into blocking methods."""

    _connection: Connection

    async def _send(self, request: Request) -> Any:
        return await self._connection.send(request)

    async def _json(self, request: Request) -> dict[str, Any]:
        return await self._connection.json(request)

    async def _list(self, request: Request, item: str) -> list[dict[str, Any]]:
        return list((await self._connection.json(request))[item])

    async def _job(self, name: str, sequence: int) -> Job:
        return Job.of(await self._json(get(_path(name, "jobs", sequence))))

    async def _fitted(self, request: Request, wait: float | None) -> Job:
        """Send a request that starts a fit; return its job when it has ended, or after `wait` seconds."""
        end = None if wait is None else time.monotonic() + wait
        seconds = MAX_WAIT if wait is None else min(wait, MAX_WAIT)
        params = {**request.params, "wait": seconds or None}
        found = Job.of(await self._json(replace(request, params=params, seconds=seconds)))
        while not found.has_ended and (end is None or time.monotonic() < end):
            await self._connection.transport.pause(SECONDS_BETWEEN_LOOKS)
            found = await self._job(found.model, found.sequence)
        if found.state == "failed":
            raise WrongRequestError((found.outcome or {}).get("error", "The fit has failed."), 422)
        return found

    async def _accepted(self, path: str, bodies: Sequence[dict[str, Any]], wait: float, key: str | None) -> Accepted:
        """Send request bodies one after the other; wait for the last."""
        parts = []
        for number, (body, one) in enumerate(_with_keys(bodies, key), start=1):
            request = post(path, body, key=one, wait=wait if number == len(bodies) else 0)
            parts.append(Accepted.of(await self._json(request)))
        return Accepted.joined(parts)

    @documented()
    async def models(self) -> list[dict[str, Any]]:
        """Return all models with name, state, number of rows, and classes."""
        return await self._list(get("/v1/models"), "models")

    @documented()
    async def model(self, name: str) -> dict[str, Any]:
        """Return the description of a model: its class, training data, and leave-one-out quality."""
        return await self._json(get(_path(name)))

    @documented(
        name="The new model.",
        settings="Settings: estimator, parameters (of the estimator), label, id, group, ignore, category, use, learn "
        "and max_fit_rows, as described in /openapi.json of the service.",
    )
    async def create(self, name: str, settings: Mapping[str, Any] | None = None) -> Accepted:
        """Create an unfitted model; its columns are those of the first rows that it learns."""
        return Accepted.of(await self._json(post("/v1/models", {"name": name, "settings": dict(settings or {})})))

    @documented(
        name="The new model.",
        table="pandas DataFrame, path, or bytes | A table as CSV, TSV, Parquet, Arrow or Excel, or a model that "
        "`sslart.save` wrote.",
        label="The column with the classes, blank where unknown.",
        id_column="The column of row IDs, not a feature.",
        group="The column of groups, such as patient.",
        ignore="Columns to leave out.",
        category="Numeric columns that are categorical codes.",
        use="Columns to use as features although they look like IDs or free text.",
        estimator="The class of the model.",
        learn="Rows sent to `decide` that are learnt without a label.",
        wait=_FIT_WAIT,
        returns=_JOB,
    )
    async def fit(
        self,
        name: str,
        table: Any,
        *,
        label: str | None = None,
        id_column: str | None = None,
        group: str | None = None,
        ignore: Iterable[str] = (),
        category: Iterable[str] = (),
        use: Iterable[str] = (),
        estimator: Estimator = "AutoSSLART",
        learn: Learning = "familiar",
        encoding: str | None = None,
        wait: float | None = None,
    ) -> Job:
        """Create a model by fitting it to a table, or from a model file.

        For other parameters of the estimator, `create` the model with them and then `add_table`.
        """
        params = {"label": label, "id": id_column, "group": group, "estimator": estimator, "learn": learn}
        names = {"ignore": list(ignore), "category": list(category), "use": list(use), "encoding": encoding}
        return await self._fitted(Request("PUT", _path(name), {**params, **names}, _table_content(table)), wait)

    @documented(wait=_FIT_WAIT, returns=_JOB)
    async def add_table(self, name: str, table: Any, *, encoding: str | None = None, wait: float | None = None) -> Job:
        """Add the rows of a table to a model and refit it to all rows."""
        request = Request("POST", _path(name, "table"), {"encoding": encoding}, _table_content(table))
        return await self._fitted(request, wait)

    @documented(settings="Settings to change, as in `create`.", wait=_FIT_WAIT, returns=_JOB)
    async def refit(
        self,
        name: str,
        settings: Mapping[str, Any] | None = None,
        *,
        wait: float | None = None,
        key: str | None = None,
    ) -> Job:
        """Refit a model to all its rows with their current labels."""
        body = {"settings": dict(settings or {})}
        return await self._fitted(post(_path(name, "refit"), body, key=key or _new_key()), wait)

    @documented()
    async def job(self, name: str, sequence: int) -> Job:
        """Return a job with its progress or outcome."""
        return await self._job(name, sequence)

    @documented()
    async def jobs(self, most: int = 100) -> list[Job]:
        """Return the newest jobs, the newest first."""
        return [Job.of(one) for one in await self._list(get("/v1/jobs", most=most), "jobs")]

    @documented()
    async def cancel(self, name: str, sequence: int) -> Job:
        """Cancel a job that has not ended; the model stays unchanged."""
        return Job.of(await self._json(Request("DELETE", _path(name, "jobs", sequence))))

    @documented(abstain_below="Abstain where the highest probability is lower; overrides the setting of the model.")
    async def predict(
        self, name: str, X: Any, *, explain: bool = False, abstain_below: float | None = None
    ) -> Predictions:
        """Predict samples without storing them."""
        options = _given(explain=explain, abstain_below=abstain_below)
        parts = []
        for (rows,) in _batches(rows_of(X)):
            parts.append(await self._json(_read(_path(name, "predict"), {"rows": rows, **options})))
        return _joined(parts)

    @documented(
        learn="Samples to learn: familiar (not novel) ones, all or none; None for the setting of the model.",
        returns="Predictions with row numbers.",
    )
    async def decide(
        self,
        name: str,
        X: Any,
        *,
        ids: Sequence[str] | None = None,
        learn: Learning | None = None,
        explain: bool = False,
        key: str | None = None,
    ) -> Predictions:
        """Predict and store samples: they can be labelled later, and those not novel are learnt without a label."""
        options = _given(explain=explain, learn=learn)
        parts = []
        for body, one in _with_keys(_bodies(X, ids=_texts(ids)), key):
            parts.append(await self._json(post(_path(name, "decide"), {**body, **options}, key=one)))
        return _joined(parts)

    @documented(
        y="sequence of labels | One for each sample, None where unknown. They may also be in the label column of X."
    )
    async def learn(
        self,
        name: str,
        X: Any,
        y: Any = None,
        *,
        ids: Sequence[str] | None = None,
        wait: float = 0.0,
        key: str | None = None,
    ) -> Accepted:
        """Send samples to be learnt, with or without labels. Retries do not count twice.

        When the call returns, the samples are on the disk of the service; they are learnt soon after.
        """
        labels = None if y is None else [plain(one) for one in (y.tolist() if hasattr(y, "tolist") else y)]
        return await self._accepted(_path(name, "learn"), _bodies(X, labels=labels, ids=_texts(ids)), wait, key)

    @documented(
        labels="Dict from row number, or the ID that it was sent with, to label; None withdraws a label.",
        by="Name of the annotator, if several people use one token.",
        refit="Whether to refit the model if a label was changed or withdrawn, or if there are enough new ones.",
        together="Whether the labels are one answer about similar rows: in leave-one-out they are left out together "
        "and count as one label. More than 1,000 labels are split into answers of 1,000.",
        at_random="Rows that were drawn at random to be labelled, as their questions say; None: all. The labels of "
        "other rows are learnt, but the statement of quality rests on rows drawn at random.",
    )
    async def label(
        self,
        name: str,
        labels: Mapping[int | str, Any],
        *,
        by: str | None = None,
        refit: bool = False,
        together: bool = False,
        at_random: Collection[int | str] | None = None,
        wait: float = 0.0,
        key: str | None = None,
    ) -> Accepted:
        """Label stored rows.

        An unlabelled row is learnt with its new label. A changed label takes effect at the next fit.
        """
        if not labels:
            raise ValueError("No labels given: give at least one.")
        more = _given(by=by, refit=refit or None, together=together or None)
        given = _labelled(labels)
        if at_random is not None:
            given = [{**one, "at_random": row in at_random} for one, row in zip(given, labels, strict=True)]
        bodies = [{"labels": some, **more} for (some,) in _batches(given)]
        return await self._accepted(_path(name, "labels"), bodies, wait, key)

    @documented(row="Labels of this row only.")
    async def labels(
        self, name: str, *, row: int | None = None, after: int = 0, most: int = 100
    ) -> list[dict[str, Any]]:
        """Return the history of labels and who gave them, the oldest first."""
        return await self._list(get(_path(name, "labels"), row=row, after=after, most=most), "labels")

    @documented(row="Row number, or the ID that it was sent with.")
    async def row(self, name: str, row: int | str) -> dict[str, Any]:
        """Return a stored row: its cells, its label, and its prediction."""
        return await self._json(get(_path(name, "rows", row)))

    @documented(returns='One explanation per sample; the item "text" is a description.')
    async def explain(self, name: str, X: Any) -> list[dict[str, Any]]:
        """Explain the predictions for samples: feature contributions, similar boxes, and counterfactuals."""
        found: list[dict[str, Any]] = []
        for (rows,) in _batches(rows_of(X), size=MAX_EXPLAINED):
            found += await self._list(_read(_path(name, "explain"), {"rows": rows}), "explanations")
        return found

    @documented(
        X="list of dicts, DataFrame, or array of shape (n_samples, n_features) | At most 1,000 samples.",
        returns="With the items features, classes, base, values, graph and scores, as lists.",
    )
    async def contributions(self, name: str, X: Any) -> dict[str, Any]:
        """Return the contribution of each feature to the score of each class."""
        return await self._json(_read(_path(name, "contributions"), {"rows": rows_of(X)}))

    @documented(
        target="class | The target class; None for any other than the predicted one.",
        fixed="Features that must not change.",
        ranges="Allowed values by feature: (low, high) of a number, or a list of categories.",
        n="Number of counterfactuals.",
        plausible="Whether to return only changes that lead to samples similar to the training data.",
        returns='The item "text" is a description.',
    )
    async def counterfactual(
        self,
        name: str,
        row: Mapping[str, Any],
        target: Any = None,
        *,
        fixed: Iterable[str] = (),
        ranges: Mapping[str, Sequence[Any]] | None = None,
        n: int = 3,
        plausible: bool = False,
    ) -> dict[str, Any]:
        """Return counterfactuals of a sample: small changes, each with a different prediction."""
        (cells,) = rows_of([row])
        limits = {feature: [plain(one) for one in values] for feature, values in (ranges or {}).items()}
        body = {"row": cells, "target": plain(target), "fixed": list(fixed), "ranges": limits, "n": n}
        return await self._json(_read(_path(name, "counterfactual"), {**body, "plausible": plausible}))

    @documented(
        max_rules="Maximum number of rules.",
        max_conditions="Maximum number of conditions per rule.",
        returns='The item "text" is a description.',
    )
    async def rules(self, name: str, *, max_rules: int = 12, max_conditions: int = 4) -> dict[str, Any]:
        """Return a short list of rules that approximates a model."""
        return await self._json(get(_path(name, "rules"), max_rules=max_rules, max_conditions=max_conditions))

    @documented(returns='The item "text" is a description.')
    async def importance(self, name: str) -> dict[str, Any]:
        """Return the importance of each feature of a model, and its direction."""
        return await self._json(get(_path(name, "importance")))

    @documented()
    async def drift(self, name: str) -> list[dict[str, Any]]:
        """Return the drifts detected since the last fit."""
        return await self._list(get(_path(name, "drift")), "drifts")

    @documented()
    async def samples(self, name: str) -> dict[str, Any]:
        """Return the number of samples of a model, its classes, and the features available to `values`."""
        return await self._json(get(_path(name, "samples")))

    @documented(
        quantity="What to return: row, position, feature, class, probability, novelty, novel, disagreement, label or "
        "box. Classes and labels are indices of the classes that `samples` returns, -1 for none.",
        feature='Name of the feature, for the quantity "feature".',
        returns="Array of length n_samples, or of shape (n_samples, 2) for positions.",
    )
    async def values(self, name: str, quantity: str, *, feature: str | None = None) -> NDArray[Any]:
        """Return one value for each sample, in order of row number."""
        answer = await self._send(get(_path(name, "values", quantity), name=feature))
        found: NDArray[Any] = np.load(io.BytesIO(answer.content), allow_pickle=False)
        return found

    @documented(x="A feature; None for positions computed from the boxes.", y="A feature, if x is given.")
    async def boxes(self, name: str, x: str | None = None, y: str | None = None) -> list[dict[str, Any]]:
        """Return the boxes with the most samples: sizes, labels, predictions, and positions."""
        return await self._list(get(_path(name, "boxes"), x=x, y=y), "boxes")

    @documented(box="Number of the box.")
    async def box(self, name: str, box: int) -> dict[str, Any]:
        """Return the contents of a box: its samples, labels, intervals, and distinctive features."""
        return await self._json(get(_path(name, "boxes", box)))

    @documented(
        conditions="As in the request: `rows`, `box`, `predicted`, `label`, `disagrees`, `novel`, `abstained`, "
        "`probability`, `cells`, `text`, `sort`, `descending`, `offset`, `limit` and `numbers`."
    )
    async def search(self, /, name: str, **conditions: Any) -> dict[str, Any]:
        """Return a page of the samples that meet conditions, with their predictions."""
        return await self._json(_read(_path(name, "search"), conditions))

    @documented(skip="Rows to skip.")
    async def questions(self, name: str, n: int = 3, *, skip: Iterable[int] = ()) -> list[dict[str, Any]]:
        """Return the samples whose labels would help most, the most useful first."""
        return await self._list(get(_path(name, "questions"), n=n, skip=list(skip)), "questions")

    @documented(target="Target accuracy; None returns the quality only, which takes less time.")
    async def quality(self, name: str, target: float | None = 0.9) -> dict[str, Any]:
        """Return the leave-one-out quality of a model, and the number of labels needed for a target accuracy."""
        wanted: dict[str, Any] = {"needed": "false"} if target is None else {"target": target}
        return await self._json(get(_path(name, "quality"), **wanted))

    @documented()
    async def random_order(self, name: str) -> dict[str, Any]:
        """Return the number of randomly chosen labels that would reach the quality of the model, by simulation."""
        return await self._json(get(_path(name, "quality", "random_order")))

    @documented()
    async def disagreements(self, name: str) -> list[dict[str, Any]]:
        """Return the rows to which several people have given different labels."""
        return await self._list(get(_path(name, "disagreements")), "rows")

    @documented()
    async def properties(self, name: str) -> dict[str, Any]:
        """Return the custom properties stored with a model, by key."""
        return dict((await self._json(get(_path(name, "properties"))))["properties"])

    @documented(key="Name of the property.", value="JSON | None removes it.")
    async def set_property(self, name: str, key: str, value: Any) -> None:
        """Store a property of a model."""
        await self._send(post(_path(name, "properties", key), value, is_repeatable=True, method="PUT"))

    @documented()
    async def columns(self, name: str) -> dict[str, Any]:
        """Return the interpretation of each column of the rows of a model, even after a failed fit."""
        return await self._json(get(_path(name, "columns")))

    @documented(group="A column; the result then has the quality in each of its groups.")
    async def trust(self, name: str, *, group: str | None = None) -> dict[str, Any]:
        """Return the leave-one-out quality of a model by class, confidence and group."""
        return await self._json(get(_path(name, "trust"), group=group))

    @documented()
    async def dependence(self, name: str, feature: str) -> dict[str, Any]:
        """Return the contribution of a feature to the score of each class, as a function of its value."""
        return await self._json(get(_path(name, "dependence"), feature=feature))

    @documented(n="Number of rows and of boxes.")
    async def similar(self, name: str, row: Any, *, n: int = 5) -> dict[str, Any]:
        """Return the labelled rows most similar to a row, and the boxes that fit it best."""
        (cells,) = rows_of([row])
        return await self._json(_read(_path(name, "similar"), {"row": cells, "n": n}))

    @documented(
        conditions="Conditions of a rule, as returned by `rules`.",
        label="class | The class of the rule.",
        n="Maximum number of rows to suggest.",
    )
    async def cover(
        self, name: str, conditions: Sequence[Mapping[str, Any]], *, label: Any = None, n: int = 20
    ) -> dict[str, Any]:
        """Return the rows that meet the conditions of a rule, and those whose labels would correct it."""
        body = {"conditions": [dict(one) for one in conditions], "label": plain(label), "n": n}
        return await self._json(_read(_path(name, "rules", "cover"), body))

    @documented(
        labels="Dict from row to class; None for no label.",
        together="Whether the labels are one answer about similar rows, as in `label`.",
        wait="Time limit in seconds.",
        returns='The item "text" is a description.',
    )
    async def trial(
        self, name: str, labels: Mapping[int | str, Any], *, together: bool = False, wait: float = MAX_SECONDS
    ) -> dict[str, Any]:
        """Fit a copy of a model with other labels, and return the changes; the copy is discarded."""
        body = {"labels": _labelled(labels), **_given(together=together or None)}
        return await self._json(post(_path(name, "trial"), body, wait=wait, is_repeatable=True))

    @documented(last="Compare this number of last rows instead.")
    async def watch(self, name: str, *, last: int | None = None) -> dict[str, Any]:
        """Compare the rows since the last fit with those before it: features, novel rows, abstentions and classes."""
        return await self._json(get(_path(name, "watch"), last=last))

    @documented()
    async def watch_table(
        self, name: str, table: Any, *, encoding: str | None = None, key: str | None = None
    ) -> dict[str, Any]:
        """Predict and store the rows of a table, like `decide`, and compare them with those of the last fit."""
        headers = {"idempotency-key": key or _new_key()}
        path, content = _path(name, "watch", "table"), _table_content(table)
        params = {"encoding": encoding}
        return await self._json(
            Request("POST", path, params, content, headers, is_repeatable=True, seconds=MAX_SECONDS)
        )

    @documented(returns='Dict from feature to "number" or "category".')
    async def features(self, name: str) -> dict[str, str]:
        """Return the features of a model in order, with their types."""
        inputs = await self._list(get(f"/v2/models/{quote(name, safe='')}"), "inputs")
        return {one["name"]: "category" if one["datatype"] == "BYTES" else "number" for one in inputs}

    @documented()
    async def state(self, name: str) -> State:
        """Return the state of a model: the same digest means the same model in every bit."""
        return State.of(await self._json(get(_path(name, "state"))))

    @documented(
        format='"sslart" for `sslart.load`, "onnx" for ONNX runtimes, "report" and "card" as HTML pages to read; '
        '"rules_sql", "rules_python" and "rules_csv"; "labels_csv", all labelled rows; or "script", a zip file with '
        "the data and a script that fits the same model."
    )
    async def export(self, name: str, format: Format = "sslart") -> bytes:
        """Export a model, or a document about it, as the content of a file."""
        answer = await self._send(get(_path(name, "export"), format=format))
        content: bytes = answer.content
        return content

    @documented(returns="AutoSSLART, SSLART, WESSLART or FuzzyARTMAP.")
    async def load(self, name: str) -> Any:
        """Return a copy of the current model: a fitted estimator of the library in this process."""
        answer = await self._send(get(_path(name, "export"), format="sslart"))
        return heavy("sslart.persistence").model_from_bytes(answer.content, f"The model {name!r}")

    @documented()
    async def snapshot(self, name: str) -> State:
        """Store a snapshot of a model, so that the next start of the service continues from it."""
        return State.of(await self._json(Request("POST", _path(name, "snapshot"))))

    @documented(parameters="Parameters of its estimator.")
    async def set_parameters(self, /, name: str, **parameters: Any) -> Accepted:
        """Change parameters that need no refit, such as abstain_below."""
        return Accepted.of(await self._json(post(_path(name), {"parameters": parameters}, method="PATCH")))

    @documented()
    async def delete(self, name: str) -> None:
        """Delete a model with all its rows, labels and snapshots."""
        await self._send(Request("DELETE", _path(name)))

    @documented()
    async def tokens(self) -> list[dict[str, Any]]:
        """Return the names and scopes of all tokens."""
        return await self._list(get("/v1/tokens"), "tokens")

    @documented(name="The person or machine that uses it.", scope="Permissions; each scope includes the previous ones.")
    async def add_token(self, name: str, scope: Scope = "read") -> str:
        """Add a token and return it; the service stores only a hash. Once a token exists, every request needs one."""
        return str((await self._json(post("/v1/tokens", {"name": name, "scope": scope})))["token"])

    @documented(name="Name of the token.")
    async def revoke_token(self, name: str) -> None:
        """Revoke a token."""
        await self._send(Request("DELETE", f"/v1/tokens/{quote(name, safe='')}"))

    @documented(name="Name of the backup.", returns="The file and its size in bytes.")
    async def backup(self, name: str) -> dict[str, Any]:
        """Write a backup of the database into the folder backups next to it, on the machine of the service."""
        return await self._json(post("/v1/backup", {"name": name}))

    @documented()
    async def audit(self, *, after: int = 0, most: int = 100) -> list[dict[str, Any]]:
        """Return the audit log, the oldest entry first; for labels see `labels`."""
        return await self._list(get("/v1/audit", after=after, most=most), "audit")

    @documented(wait="Seconds to wait until it is ready.")
    async def ready(self, wait: float = 0.0) -> bool:
        """Return True if the service answers and all models have replayed their journals."""
        end = time.monotonic() + wait
        while True:
            try:
                answer = await self._send(Request("GET", "/readyz", takes=(503,)))
                is_ready = bool(answer.status_code == 200)
            except UnreachableError:
                is_ready = False
            if is_ready or time.monotonic() >= end:
                return is_ready
            await self._connection.transport.pause(SECONDS_UNTIL_READY)


def _joined(parts: Sequence[Mapping[str, Any]]) -> Predictions:
    """Concatenate the responses to several requests."""
    found = tuple(Prediction.of(one) for part in parts for one in part["predictions"])
    return Predictions(parts[-1]["model"], parts[-1]["sequence"], found)


def _given(**items: Any) -> dict[str, Any]:
    """Return the items of a body that are not None."""
    return {name: value for name, value in items.items() if value is not None}


def _labelled(labels: Mapping[int | str, Any]) -> list[dict[str, Any]]:
    return [{"row": plain(row), "label": plain(one)} for row, one in labels.items()]


def _texts(ids: Sequence[Any] | None) -> list[str] | None:
    return None if ids is None else [str(one) for one in ids]


def _new_key() -> str:
    """Return an Idempotency-Key that no other request has."""
    return uuid.uuid4().hex


def _bodies(X: Any, **columns: list[Any] | None) -> list[dict[str, Any]]:
    """Return request bodies with batches of rows and the columns that belong to them."""
    rows = rows_of(X)
    for name, values in columns.items():
        if values is not None and len(values) != len(rows):
            raise ValueError(f"There are {len(values)} {name} for {len(rows)} rows: give one for each row.")
    names = ("rows", *columns)
    return [_given(**dict(zip(names, some, strict=True))) for some in _batches(rows, *columns.values())]


def _with_keys(bodies: Sequence[dict[str, Any]], key: str | None) -> list[tuple[dict[str, Any], str]]:
    """Return bodies with a key for each: the key of the call, with a number if there are several."""
    key = key or _new_key()
    return [(body, key if len(bodies) == 1 else f"{key}-{number}") for number, body in enumerate(bodies)]


def _batches(*columns: Sequence[Any] | None, size: int = MAX_ROWS) -> Iterator[tuple[Any, ...]]:
    """Yield batches of parallel lists; None stays None."""
    first = columns[0]
    assert first is not None
    for start in range(0, len(first), size):
        yield tuple(None if one is None else one[start : start + size] for one in columns)


def rows_of(X: Any) -> list[Row]:
    """Return samples as dicts from column to value; the columns of an array are called x0, x1 and so on.

    Examples
    --------
    >>> import numpy as np
    >>> from sslart.client._operations import rows_of
    >>> rows_of(np.array([[0.5, np.nan]]))
    [{'x0': 0.5, 'x1': None}]
    """
    if hasattr(X, "to_dicts"):
        return _cleaned(X.to_dicts())
    if hasattr(X, "columns"):
        names = [str(name) for name in X.columns]
        if len(set(names)) < len(names):
            raise ValueError("The frame has two columns with the same name: rename one.")
        columns = [X.iloc[:, place].tolist() for place in range(len(names))]
        return _cleaned(dict(zip(names, cells, strict=True)) for cells in zip(*columns, strict=True))
    if isinstance(X, np.ndarray):
        if X.ndim != 2:
            raise ValueError(f"The array has {X.ndim} dimensions: give one of shape (n_samples, n_features).")
        return _cleaned({f"x{place}": cell for place, cell in enumerate(cells)} for cells in X.tolist())
    if isinstance(X, Mapping | str | bytes) or not all(isinstance(row, Mapping) for row in X):
        raise TypeError("Samples are a list of dicts, a DataFrame, or an array of shape (n_samples, n_features).")
    return _cleaned(X)


def _cleaned(rows: Iterable[Mapping[Any, Any]]) -> list[Row]:
    found = []
    for number, row in enumerate(rows):
        cells = {str(name): plain(cell) for name, cell in row.items()}
        for name, cell in cells.items():
            if isinstance(cell, float) and math.isinf(cell):
                raise ValueError(
                    f"Row {number} has infinity in {name!r}: give None if the value is unknown, or a large finite "
                    "number."
                )
        found.append(cells)
    if not found:
        raise ValueError("No rows given: give at least one.")
    return found


def plain(value: Any) -> Any:
    """Return a cell or label as a JSON value: None where missing, and text for types that JSON lacks."""
    if value is None or isinstance(value, str):
        return value
    if type(value).__name__ in ("NAType", "NaTType"):
        return None
    value = value.item() if isinstance(value, np.generic) else value
    if isinstance(value, float):
        return None if math.isnan(value) else value
    return value if isinstance(value, str | bool | int) else str(value)


def _table_content(table: Any) -> bytes | Path:
    """Return the content of a table to upload: bytes and files unchanged, a pandas DataFrame as CSV."""
    if isinstance(table, bytes | bytearray):
        return bytes(table)
    if isinstance(table, str | os.PathLike):
        path = Path(table)
        if not path.is_file():
            raise FileNotFoundError(f"There is no file {path}: check the name.")
        return path
    if hasattr(table, "to_csv"):
        narrow = {name: "float64" for name, kind in table.dtypes.items() if str(kind) in ("float16", "float32")}
        text = io.StringIO()  # CSV would shorten the digits of float32
        table.astype(narrow).to_csv(text, index=False)
        return text.getvalue().encode()
    raise TypeError("A table is a pandas DataFrame, the path of a file, or the bytes of one.")
