"""Explanation methods of every classifier: rules, explanations, contributions, importances, and what-if."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal, overload

from sslart import explain as explanations
from sslart import rules as if_then_rules
from sslart._mapping.model_view import view_of
from sslart._mapping.summary import ModelSummary, summarise

if TYPE_CHECKING:
    from sslart.explain import Counterfactuals, Explanation, FeatureContributions, FeatureImportances
    from sslart.rules import ModelRuleSet, RuleSet


class ExplainedMixin:
    """The methods by which a fitted classifier is explained."""

    @overload
    def rules(
        self,
        X: Any = ...,
        y: Any = ...,
        *,
        kind: Literal["model"] = ...,
        max_rules: int | None = ...,
        max_conditions: int | None = ...,
    ) -> ModelRuleSet: ...
    @overload
    def rules(
        self,
        *,
        kind: Literal["boxes"],
        levels: Any = ...,
        terms: Any = ...,
        min_confidence: float | None = ...,
        min_support: float | None = ...,
        simplify: Any = ...,
    ) -> RuleSet: ...
    def rules(
        self,
        X: Any = None,
        y: Any = None,
        *,
        kind: str = "model",
        max_rules: int | None = None,
        max_conditions: int | None = None,
        levels: Any = None,
        terms: Any = None,
        min_confidence: float | None = None,
        min_support: float | None = None,
        simplify: Any = None,
    ) -> ModelRuleSet | RuleSet:
        """Return if-then rules: few and short ones that agree with the predictions, or one per labelled box.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features), default=None
            Samples for which the rules shall agree with the model, labelled or not, such as those it has learnt.
            None: samples drawn from its boxes.
        y : array-like of shape (n_samples,), default=None
            Labels of these samples, with gaps, to count how often each rule is right. None: the labels that the model
            keeps.
        kind : {"model", "boxes"}, default="model"
            "model": rules that agree with the model. "boxes": the paper's rules.
        max_rules, max_conditions : int, default=None
            Of kind "model": how many rules, and conditions in a rule, at most. None: 12 and 4.
        levels, terms, min_confidence, min_support, simplify
            Of kind "boxes": see `sslart.rules.rules_of`.

        Returns
        -------
        ModelRuleSet or RuleSet
            Rules as data, with `predict`, `to_text`, `to_frame`, `to_csv`, `to_json`, `to_markdown` and `to_html`;
            those of kind "model" also with `apply`, `fidelity`, `to_sql` and `to_python`.
        """
        found: ModelRuleSet | RuleSet = if_then_rules.rules_of(  # type: ignore[call-overload]
            self,
            X,
            y,
            kind=kind,
            max_rules=max_rules,
            max_conditions=max_conditions,
            levels=levels,
            terms=terms,
            min_confidence=min_confidence,
            min_support=min_support,
            simplify=simplify,
        )
        return found

    def summary(self) -> ModelSummary:
        """Return a summary of the model: what it has learnt, its leave-one-out accuracy, and warnings.

        Returns
        -------
        ModelSummary
            Samples, features, labels of each class; accuracy with its 95 % interval, or why there is none; classes with
            fewer than five labels, classes that are never predicted, and labels that are left out together. Data first:
            `str()` puts it into words.

        Examples
        --------
        >>> from sklearn.datasets import load_iris
        >>> from sslart import AutoSSLART
        >>> X, y = load_iris(return_X_y=True)
        >>> y[[row for row in range(150) if row % 4 or row > 115]] = -1
        >>> print(AutoSSLART(random_state=0).fit(X, y).summary())
        AutoSSLART
        samples                 150, of which 29 labelled
        features                4
        labels                  0: 13, 1: 12, 2: 4
        accuracy                100.0 % (95 % interval 79.1 to 100.0 %), leave-one-out
        fewer than five labels  2 (4)
        boxes                   40
        """
        return summarise(view_of(self))

    def explain(self, X: Any) -> list[Explanation]:
        """Explain each prediction: the reasons for it, the evidence against it, and a change that would alter it.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)

        Returns
        -------
        list of Explanation
            Each is data first; `str()` puts it into words.
        """
        return explanations.explain(self, X)

    def counterfactual(
        self,
        x: Any,
        target: Any = None,
        fixed: Any = (),
        ranges: Any = None,
        n: int = 3,
        *,
        plausible: bool = False,
    ) -> Counterfactuals:
        """Return several diverse counterfactuals of one sample, each with a different prediction.

        Parameters
        ----------
        x : one sample
            One value per feature: an array, a list, a pandas Series, a dict, or a frame or an array of one row.
        target : class, default=None
            The class that is wanted; None for any other than the present prediction.
        fixed : list of str or int, default=()
            Features that never change, by name or column number.
        ranges : dict, default=None
            Limits of new values: from a feature to ``(low, high)``, or to a list of the categories that are allowed.
        n : int, default=3
            How many changes are wanted.
        plausible : bool, default=False
            Whether changed samples must be like those learnt, as a whole and in each new value.

        Returns
        -------
        Counterfactuals
            Up to n changes, those of few features first, with `to_dict` and `to_frame`; `str()` puts them into words.
            See `sslart.explain.counterfactuals_of`.
        """
        return explanations.counterfactuals_of(self, x, target, fixed, ranges, n, plausible=plausible)

    def contributions(self, X: Any, reference: str = "average") -> FeatureContributions:
        """Return the contribution of each feature to each class score: exact Shapley values with evidence mapping.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
        reference : {"average", "nothing"}, default="average"
            What a sample is compared with: the average over what was learnt, or a sample of which no value is known.

        Returns
        -------
        FeatureContributions
            Arrays; `to_shap()` gives them to the plots of shap.
        """
        return explanations.contributions_of(self, X, reference)

    def feature_importances(self, X: Any = None) -> FeatureImportances:
        """Return the importance of each feature for the class scores, and its direction.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features), default=None
            Samples to measure on. None: samples drawn from the boxes of the model.

        Returns
        -------
        FeatureImportances
            Mean absolute contributions; `str()` is a table, the most important feature first.
        """
        return explanations.importances_of(self, X)
