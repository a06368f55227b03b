"""A fitted classifier as an ONNX model, to be run where there is no Python."""

from __future__ import annotations

import json
import os
from importlib.metadata import version
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from sslart._data.labels import UNLABELLED, check_has_label
from sslart._mapping.model_view import ModelView, view_of
from sslart._utils.files import write_atomically
from sslart._utils.optional import optional
from sslart._utils.text import DateName
from sslart.export.onnx._graph import BOOL, CATEGORIES_DOMAIN, DOUBLE, INT64, STRING, Graph
from sslart.export.onnx._inputs import Columns, declare_columns
from sslart.export.onnx._predictions import Predicted, cheapest, predicted

if TYPE_CHECKING:
    from onnx import ModelProto

OPSET, CATEGORIES_OPSET, IR_VERSION = 17, 2, 8
LABEL, PROBABILITIES, ABSTAINED = OUTPUTS = ("label", "probabilities", "abstained")
NO_INTEGER = np.iinfo(np.int64).min  # stands for abstention where -1 is a class; it is no class itself
MAX_BYTES = 2**31 - 2**24  # that Protocol Buffers can hold, less what is not arrays


def to_onnx(model: Any, path: str | os.PathLike[str] | None = None) -> ModelProto:
    """Convert a fitted classifier to an ONNX model that predicts as the classifier does.

    Parameters
    ----------
    model : SSLART, AutoSSLART, WESSLART or FuzzyARTMAP
        Fitted, with at least one label learnt. The ONNX model keeps the parameters as they are at this time.
    path : str or path, default=None
        Where to write the model to as well, whole or not at all.

    Returns
    -------
    onnx.ModelProto
        Opset 17, IR version 8. Inputs are in the user's units, in double precision:

        - `X` of shape (N, n_features), NaN where missing, if all columns are numeric;
        - else one input of shape (N, 1) per column, with its name: double for a numeric column, string for a
          categorical one; the empty string means missing.

        Outputs:

        - `label`, shape (N,): the class. Integers for integer classes, 0 and 1 for booleans, strings for strings.
          Where the model abstains -1, or the lowest 64-bit integer if -1 is a class; or the empty string.
        - `probabilities`, shape (N, n_classes): as `predict_proba`.
        - `abstained`, shape (N,): whether the model abstains.

        The metadata holds `sslart_version`, `estimator`, `classes`, `feature_names` and `categories` as JSON.

    Raises
    ------
    ImportError
        If onnx is not installed, which the extra `onnx` brings.
    TypeError
        If the model is not a classifier of sslart.
    ValueError
        If the model has categories that are alike as strings, or is larger than an ONNX file can be.

    Notes
    -----
    With one-to-many and one-to-one mapping the result is that of `predict`, bit for bit. Evidence is close: see
    docs/onnx.md. For a sample without a single value, which `predict` refuses, the ONNX model abstains, with NaN as
    probabilities.

    Examples
    --------
    >>> import onnxruntime
    >>> from sklearn.datasets import load_iris
    >>> import sslart
    >>> X, y = load_iris(return_X_y=True)
    >>> model = sslart.SSLART(random_state=0).fit(X, y)
    >>> session = onnxruntime.InferenceSession(sslart.to_onnx(model).SerializeToString())
    >>> label, probabilities, abstained = session.run(None, {"X": X})
    >>> bool((label == model.predict(X)).all())
    True
    """
    checker = optional("onnx.checker", "onnx")
    view = view_of(model, "a fitted SSLART, AutoSSLART, WESSLART or FuzzyARTMAP")
    check_has_label(view.class_table)
    made = _model_of(view)
    checker.check_model(made)
    if path is not None:
        write_atomically(Path(path), [made.SerializeToString()])
    return made


def _model_of(view: ModelView) -> ModelProto:
    helper = optional("onnx.helper", "onnx")
    graph = Graph(OUTPUTS)
    dates = [name for name in view.feature_names if isinstance(name, DateName)]
    if dates:
        raise ValueError(
            f"Column {dates[0]!r} holds dates, which ONNX has no type for. Turn it into numbers and categories, such "
            "as days since a fixed date and the weekday, and fit the model to these."
        )
    columns = declare_columns(graph, view.feature_names, [member.encoder for member in view.members])
    _declare_outputs(graph, view, predicted(columns, view))
    if graph.n_bytes > MAX_BYTES:
        raise ValueError(
            f"This model has {graph.n_bytes / 2**30:.1f} GiB of arrays, and an ONNX file holds 2 GiB: fit it with "
            "lower vigilance or, of an ensemble, fewer members."
        )
    made: ModelProto = helper.make_model(
        helper.make_graph(graph.nodes, view.name, graph.inputs, graph.outputs, initializer=graph.initializers),
        opset_imports=[helper.make_opsetid("", OPSET), helper.make_opsetid(CATEGORIES_DOMAIN, CATEGORIES_OPSET)],
        ir_version=IR_VERSION,
        producer_name="sslart",
        producer_version=version("sslart"),
    )
    helper.set_model_props(made, _metadata(view, columns))
    return made


def _declare_outputs(graph: Graph, view: ModelView, found: Predicted) -> None:
    """Declare the outputs, with abstention where the model abstains."""
    decided = found.has_value if found.within_depth is None else found.has_value & found.within_depth
    if view.abstain_below is not None:
        decided = decided & ~(found.proba.max(axis=1) < view.abstain_below)
    costs, limits, classes = view.decision_costs, view.confidence_limits, view.classes
    indices = found.indices if costs is None else cheapest(found.proba, costs)
    if limits is not None:
        is_own = indices.reshape(-1, 1).equals(np.arange(len(classes))[None]).cast(DOUBLE)
        decided = decided & ~((found.proba * is_own).sum(axis=1) < graph.take(limits, indices))
    as_text = classes.dtype.kind == "U"
    no_class: Any = "" if as_text else NO_INTEGER if view.class_table.has_minus_one() else UNLABELLED
    names = np.array([*classes.tolist(), no_class], dtype=object if as_text else np.int64)
    label = graph.take(names, graph.where(decided, indices, np.array(len(classes))))
    proba = graph.where(found.has_value.reshape(-1, 1), found.proba, np.nan)
    graph.output(label, LABEL, STRING if as_text else INT64)
    graph.output(proba, PROBABILITIES, DOUBLE, len(classes))
    graph.output(~decided, ABSTAINED, BOOL)


def _metadata(view: ModelView, columns: Columns) -> dict[str, str]:
    return {
        "sslart_version": version("sslart"),
        "estimator": view.name,
        "classes": json.dumps(view.classes.tolist()),
        "feature_names": json.dumps(view.feature_names),
        "categories": json.dumps({str(column): known for column, known in columns.categories.items()}),
    }
