"""The function sslart.merge: merges several fitted models into one."""

from __future__ import annotations

import copy
from collections.abc import Iterable

from sslart._utils.validation import check_number
from sslart.merging._parameters import Model, check_columns, check_models, lowest_vigilance, new_model
from sslart.merging._parts import finished, joined_parts


def merge(models: Iterable[Model], vigilance: float | None = None) -> Model:
    """Merge several fitted models into one, such as those of parts of a table or of several sites.

    Ranges, categories and classes are those of all models together. Two boxes are joined where the box around both
    obeys the vigilance; supports, counts and kept labels add. With evidence mapping, settings are chosen anew by the
    labels of all. Every sample that lay in a box of a model lies in a box of the result. The models stay as they are.

    Parameters
    ----------
    models : iterable of FuzzyART, FuzzyARTMAP, SSLART, AutoSSLART or WESSLART
        All of one class, with equal parameters (`n_jobs` and `random_state` may differ), and for the same features. A
        model that has not been fitted adds nothing. The order of models is irrelevant to every bit of the result.
    vigilance : float, default=None
        From 0 to 1: boxes are joined where the box around both obeys it. Lower makes fewer and larger boxes, also of
        one model alone. None: the lowest that any of the models learns with.

    Returns
    -------
    model
        Of the same class, with the same parameters; `n_jobs` and `random_state` are None where the models differ. Of a
        single model that has been fitted, the result is a copy, unless a vigilance is given.

    Raises
    ------
    ValueError
        If parameters or features differ, a column is numeric in one model and categorical in another, or is read as
        dates or left out by some of the models only.

    Notes
    -----
    A merged model is not the one that a single pass over all samples would have made: boxes depend on the order of
    samples. `max_nodes` holds for the result. With ``scaling="rank"`` the scales of the models are joined; a box may be
    larger on the joined scale than the vigilance allows, and then does not grow any more. Member by member, ensembles
    are merged as their members are, and validated successes add.

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> import sslart
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> y[[i for i in range(len(y)) if i % 20]] = -1  # keep one label in twenty
    >>> north = sslart.AutoSSLART(random_state=0).fit(X[:285], y[:285])
    >>> south = sslart.AutoSSLART(random_state=0).fit(X[285:], y[285:])
    >>> both = sslart.merge([north, south])
    >>> int(both.support_.sum()), both.n_nodes_ <= north.n_nodes_ + south.n_nodes_
    (569, True)
    """
    given = check_models(models)
    bound = None if vigilance is None else check_number("sslart.merge", "vigilance", vigilance, 0, 1)
    places = [place for place, model in enumerate(given) if model.__sklearn_is_fitted__()]
    if not places:
        return new_model(given)
    fitted = [given[place] for place in places]
    if len(fitted) == 1 and bound is None:
        return copy.deepcopy(fitted[0])
    parts = [model.__sslart_parts__() for model in fitted]
    check_columns(parts, places)
    model = new_model(fitted)
    if bound is None:
        bound = lowest_vigilance(model, parts)
    model.__sslart_take__(finished(joined_parts(parts, bound, model.max_nodes, model.choice, model.learning_rate)))
    return model
