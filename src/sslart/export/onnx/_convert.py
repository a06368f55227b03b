"""A fitted classifier as an ONNX model, to be run where there is no Python."""

from __future__ import annotations

import json
import os
from importlib.metadata import version
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from sklearn.utils.validation import check_is_fitted

from sslart._data.labels import UNLABELLED
from sslart._data.training import check_has_label
from sslart._utils.files import write_atomically
from sslart.estimators._classifier import AbstainingClassifier, ARTClassifier
from sslart.estimators._wesslart import WESSLART

if TYPE_CHECKING:
    from onnx import ModelProto

    from sslart.export.onnx._graph import Graph
    from sslart.export.onnx._inputs import Columns
    from sslart.export.onnx._votes import Answer

OPSET, CATEGORIES_OPSET, IR_VERSION = 17, 2, 8
LABEL, PROBABILITIES, ABSTAINED = OUTPUTS = ("label", "probabilities", "abstained")
NO_INTEGER = np.iinfo(np.int64).min  # stands for abstention where -1 is a class; it is none itself
MAX_BYTES = 2**31 - 2**24  # that Protocol Buffers can hold, less what is not arrays


def to_onnx(model: Any, path: str | os.PathLike[str] | None = None) -> ModelProto:
    """Make an ONNX model of a fitted classifier, which answers as the classifier does.

    Parameters
    ----------
    model : SSLART, AutoSSLART, WESSLART or FuzzyARTMAP
        Fitted, with at least one label learnt. What it does is fixed by its parameters at this time.
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
        If onnx is not installed: ``pip install "sslart[onnx]"``.
    TypeError
        If the model names no classes.
    ValueError
        If the model has categories that strings cannot tell apart, or is larger than an ONNX file can be.

    Notes
    -----
    Box mappings decide as `predict` does, bit for bit. Evidence is close: see docs/onnx.md. A sample without a single
    value, which `predict` refuses, is abstained from, with NaN as probabilities.

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
    _check_extra()
    _check_model(model)
    if isinstance(model, WESSLART):
        model._follow()

    from onnx import checker

    made = _model_of(model)
    checker.check_model(made)
    if path is not None:
        write_atomically(Path(path), [made.SerializeToString()])
    return made


def _check_extra() -> None:
    try:
        import onnx  # noqa: F401
    except ImportError as error:
        raise ImportError('to_onnx needs onnx: pip install "sslart[onnx]".') from error


def _check_model(model: Any) -> None:
    if not isinstance(model, AbstainingClassifier):
        raise TypeError(
            f"to_onnx takes a fitted SSLART, AutoSSLART, WESSLART or FuzzyARTMAP, got a {type(model).__name__}. A "
            "clusterer names no classes; of a pipeline give the last step, which takes X as that step gets it."
        )
    check_is_fitted(model)
    check_has_label(model._class_table)


def _model_of(model: ARTClassifier | WESSLART) -> ModelProto:
    from onnx import helper

    from sslart.export.onnx._graph import CATEGORIES_DOMAIN, Graph
    from sslart.export.onnx._inputs import declare_columns
    from sslart.export.onnx._votes import answer_of

    graph = Graph(OUTPUTS)
    names = [str(name) for name in model.feature_names_in_] if hasattr(model, "feature_names_in_") else None
    members = model.estimators_ if isinstance(model, WESSLART) else [model]
    encoders = [member._network.encoder for member in members]
    columns = declare_columns(graph, names, model.n_features_in_, encoders)
    _give(graph, model, answer_of(columns, model))
    if graph.n_bytes > MAX_BYTES:
        raise ValueError(
            f"This model has {graph.n_bytes / 2**30:.1f} GiB of arrays, and an ONNX file holds 2 GiB: fit it with "
            "lower vigilance or, of an ensemble, fewer members."
        )
    made = helper.make_model(
        helper.make_graph(
            graph.nodes, type(model).__name__, graph.inputs, graph.outputs, initializer=graph.initializers
        ),
        opset_imports=[helper.make_opsetid("", OPSET), helper.make_opsetid(CATEGORIES_DOMAIN, CATEGORIES_OPSET)],
        ir_version=IR_VERSION,
        producer_name="sslart",
        producer_version=version("sslart"),
    )
    helper.set_model_props(made, _metadata(model, names, columns))
    return made


def _give(graph: Graph, model: ARTClassifier | WESSLART, answer: Answer) -> None:
    """Declare the outputs, after abstaining where the model does."""
    from sslart.export.onnx._graph import BOOL, DOUBLE, INT64, STRING

    answered = answer.has_value if answer.answers is None else answer.has_value & answer.answers
    if model.abstain_below is not None:
        answered = answered & ~(answer.probabilities.max(axis=1) < model._least_probability())
    classes = model.classes_
    as_text = classes.dtype.kind == "U"
    no_class: Any = "" if as_text else NO_INTEGER if model._class_table.has_minus_one() else UNLABELLED
    names = np.array([*classes.tolist(), no_class], dtype=object if as_text else np.int64)
    label = graph.take(names, graph.where(answered, answer.places, np.array(len(classes))))
    said = graph.where(answer.has_value.reshape(-1, 1), answer.probabilities, np.nan)
    graph.output(label, LABEL, STRING if as_text else INT64)
    graph.output(said, PROBABILITIES, DOUBLE, len(classes))
    graph.output(~answered, ABSTAINED, BOOL)


def _metadata(model: ARTClassifier | WESSLART, names: list[str] | None, columns: Columns) -> dict[str, str]:
    names = names or [f"x{column}" for column in range(model.n_features_in_)]
    return {
        "sslart_version": version("sslart"),
        "estimator": type(model).__name__,
        "classes": json.dumps(model.classes_.tolist()),
        "feature_names": json.dumps(names),
        "categories": json.dumps({str(column): known for column, known in columns.categories.items()}),
    }
