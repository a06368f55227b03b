"""`guarantees`: the errors that a model can guarantee for new samples."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from sslart._data.labels import check_has_label
from sslart._mapping.conformal import LEVELS, Guarantees, guarantees_of
from sslart._mapping.model_view import view_of
from sslart._utils.validation import check_certainty, check_number


def guarantees(model: Any, max_errors: Iterable[float] = LEVELS, *, confidence: float | None = None) -> Guarantees:
    """Return the errors that a model can guarantee with its labels, and the share of samples it answers.

    Nothing is learnt: each label is predicted by the others alone, as `max_error` does.

    Parameters
    ----------
    model : AutoSSLART, or SSLART or WESSLART with evidence mapping
        A fitted classifier. It is not changed.
    max_errors : iterable of float, default=(0.01, 0.02, 0.05, 0.1, 0.2)
        Values of `max_error`.
    confidence : float, default=None
        The probability with which a limit holds for this model. None: that of the model, or 0.9 if its limits hold on
        average alone.

    Returns
    -------
    Guarantees

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> from sslart import AutoSSLART
    >>> from sslart.metrics import guarantees
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> found = guarantees(AutoSSLART(random_state=0).fit(X[::5], y[::5]), [0.02, 0.05])
    >>> found.n_labels, found.levels[0].certain.labels_needed, found.levels[0].is_possible
    (114, 114, False)
    >>> print(found.levels[1].certain.text("samples", found.n_labels, found.unit))
    answers 90 % of the samples
    """
    view = view_of(model, "a fitted AutoSSLART, SSLART or WESSLART")
    check_has_label(view.class_table)
    levels = [check_number("guarantees", "max_errors", level, 0, 1, open_low=True) for level in max_errors]
    certainty = check_certainty("guarantees", "confidence", confidence)
    return guarantees_of(view.promises, levels, view.certainty if certainty is None else certainty)
