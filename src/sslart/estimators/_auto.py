"""AutoSSLART: the estimator to start with. Everything is chosen from the labels."""

from __future__ import annotations

from typing import Any

from sslart._data.ranks import AUTO, SCALINGS
from sslart.estimators._sslart import SSLART


class AutoSSLART(SSLART):
    """SSL-ART with evidence mapping, where leave-one-out on the labelled samples chooses all settings.

    Boxes are learnt in one pass, unlabelled samples first. All of them, the features and the graph of boxes then are
    basis functions of a ridge regression on the labelled samples: a box contributes the more, the nearer it is to the
    sample. Nothing needs tuning. It has all attributes of `SSLART`, and those below.

    Parameters
    ----------
    vigilance : float, default=0.9
        ρ in [0, 1]: how alike the samples of one box must be.
    max_nodes : int or None, default=10000
        The most boxes that there may be, from 2 up. Where there is no room for a new box, those that lie closest
        together are joined, and vigilance is lowered by as much as that takes: see `vigilance_`. None: no limit.
    search_depth : int or None, default=None
        T: `predict` abstains where none of the T best boxes has a label. None: it does not.
    abstain_below : float or None, default=None
        `predict` abstains where the highest probability is below this.
    max_error : float, dict from class to float, or None, default=None
        In (0, 1]: `predict` abstains so that at most this share of the samples that it does predict are wrong, on
        average over training sets and new samples like the labelled ones; from a dict, of those predicted as a class,
        and it does not abstain from other classes. It needs enough labels.
    decision_costs : array-like of shape (n_classes, n_classes), dict, "balanced" or None, default=None
        What predictions cost: `predict` returns the class of the lowest expected cost by `predict_proba`. Rows are true
        classes and columns predicted ones, in the order of `classes_`. In a dict from (true, predicted) to the cost,
        wrong predictions not named cost 1 and right ones 0. "balanced": a wrong prediction costs the more, the rarer
        its true class is among the labels, for a high balanced accuracy. None: the most probable class is predicted.
    class_weight : "balanced", dict from class to weight, or None, default=None
        How much the labels of each class count in the regression, in the choice of settings and
        in probabilities; classes that a dict does not name count 1. Balanced: all classes count the same.
    max_labels : int, default=50000
        How many labelled samples are kept; of more, a fair sample.
    half_life : float, "auto" or None, default=None
        In `partial_fit`, after how many further samples a sample counts half; "auto": the labels of the stream choose.
        None: nothing is forgotten. See `SSLART`.
    bounds : (lower, upper), default=None
        Range of the features where it is known in advance: see `SSLART`.
    scaling : {"auto", "range", "rank"}, default="auto"
        How numeric features are scaled to [0, 1]: by their range, by rank (see `SSLART`), or by rank those alone that
        crowd in a part of their range in the first call. `scaling_` is what was chosen.
    random_state : int, RandomState instance or None, default=None
        Seeds the order of learning.
    n_jobs : int or None, default=None
        How many threads predictions are made in; None is 1, -1 all cores. Results do not depend on it.

    Attributes
    ----------
    family_weights_ : dict from str to float
        How much each family of basis functions counts; they sum to one.
    loo_accuracy_ : float
        Share of the labelled samples that the others alone predict rightly.
    drift_ : list of DriftEvent
        The drifts that `partial_fit` has found in a stream since the last `fit`.
    scaling_ : list of str
        How each feature is scaled: "range", "rank", or "category" where it is not a number.

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> from sslart import AutoSSLART
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> few = y.copy()
    >>> few[[i for i in range(len(y)) if i % 20]] = -1  # keep one label in twenty
    >>> model = AutoSSLART(random_state=0).fit(X, few)
    >>> model.score(X, y) > 0.93
    True
    """

    choice = 1e-3
    learning_rate = 1.0
    mapping = "evidence"
    match_tracking = 1e-6
    families = None
    bandwidth = None
    ridge = None
    rank_weight = None
    shuffle = True
    _scalings = (AUTO, *SCALINGS)

    def __init__(
        self,
        vigilance: float = 0.9,
        *,
        max_nodes: int | None = 10_000,
        search_depth: int | None = None,
        abstain_below: float | None = None,
        max_error: float | dict[Any, float] | None = None,
        decision_costs: Any = None,
        class_weight: Any = None,
        max_labels: int = 50_000,
        half_life: float | str | None = None,
        bounds: Any = None,
        scaling: str = "auto",
        random_state: Any = None,
        n_jobs: int | None = None,
    ) -> None:
        self.vigilance = vigilance
        self.max_nodes = max_nodes
        self.search_depth = search_depth
        self.abstain_below = abstain_below
        self.max_error = max_error
        self.decision_costs = decision_costs
        self.class_weight = class_weight
        self.max_labels = max_labels
        self.half_life = half_life
        self.bounds = bounds
        self.scaling = scaling
        self.random_state = random_state
        self.n_jobs = n_jobs
