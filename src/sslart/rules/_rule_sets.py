"""Sets of rules: sequences to read, filter, apply and export, which can also predict."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from math import nan
from typing import Any, TypeVar, overload

import numpy as np
from numpy.typing import NDArray

from sslart._data.labels import UNLABELLED, Label
from sslart._data.samples import SampleReader, Table
from sslart._mapping.model_view import view_of
from sslart._mapping.quality import NO_FINDING
from sslart._utils.arrays import IntArray
from sslart._utils.optional import optional
from sslart._utils.text import Cell, csv_text, html_table, json_text, markdown_table, plural
from sslart._utils.validation import check_number, check_option
from sslart.rules import _box_rules as of_boxes
from sslart.rules import _model_rules as of_model
from sslart.rules._box_rules import Domain, Rule, Scale, known_names
from sslart.rules._code import RESULTS, is_name, python_code, sql_code
from sslart.rules._model_rules import ModelRule, share_text

R = TypeVar("R")


@dataclass(frozen=True, eq=False, repr=False)
class _Rules(Sequence[R]):
    """Base class of rule sets: a sequence of rules with exports."""

    rules: tuple[R, ...]

    def __len__(self) -> int:
        return len(self.rules)

    def __iter__(self) -> Iterator[R]:
        return iter(self.rules)

    @abstractmethod
    def to_frame(self) -> Any: ...
    @abstractmethod
    def to_dict(self) -> dict[str, Any]: ...
    @abstractmethod
    def to_html(self) -> str: ...
    def _repr_html_(self) -> str:
        return self.to_html()

    def to_csv(self, *, keep_formulas: bool = False) -> str:
        """Return the table of `to_frame` as CSV.

        For box rules, further columns have the values of the levels: "<feature> from" and "<feature> to" for each
        numeric feature, in the user's units; empty if a rule has no condition.

        Parameters
        ----------
        keep_formulas : bool, default=False
            Whether to keep names and cells that a spreadsheet would compute, such as ``=1+1``. If not, they are
            prefixed with an apostrophe, which marks them as text.
        """
        return csv_text(self._csv_frame(), keep_formulas=keep_formulas)

    def _csv_frame(self) -> Any:
        return self.to_frame()

    def to_json(self, indent: int | None = None) -> str:
        """Return `to_dict` as JSON; classes that are keys become strings there.

        Parameters
        ----------
        indent : int, default=None
            Number of spaces per level; None: all in one line.
        """
        return json_text(self.to_dict(), indent)


def _html(head: Sequence[str], rows: Sequence[Sequence[str | Cell]], caption: str) -> str:
    return html_table(head, rows, caption=caption, css_class="sslart-rules", row_headers=True)


@dataclass(frozen=True, eq=False, repr=False)
class RuleSet(_Rules[Rule]):
    """Box rules, the best first, to read, filter, export and predict with.

    Returned by `rules_of` with ``kind="boxes"``. Immutable; slices and filters are rule sets again. A rule of a single
    model has the number of its box.

    Attributes
    ----------
    rules : tuple of Rule
    dropped : tuple of str
        Log of the merged rules and dropped conditions of a simplification, in order.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from sslart import SSLART
    >>> data = load_iris(as_frame=True)
    >>> model = SSLART(vigilance=0.5, random_state=0).fit(data.data, data.target_names[data.target])
    >>> rules = model.rules(kind="boxes")
    >>> rules
    RuleSet of 5 rules for 3 classes over 4 features
    >>> print(rules.filter(label="setosa")[:1].to_text())
    Box 1: If sepal length (cm) is from “Very Small” to “Medium” [4.3, 5.7], AND
       petal length (cm) is from “Very Small” to “Medium” [1, 3.3], AND
       petal width (cm) is from “Very Small” to “Medium” [0.1, 1.1]
    Then setosa with confidence estimate=0.941.
       (else versicolor 0.059; support 51, 51 of them labelled)
    >>> list(rules.to_frame()["petal length (cm)"])
    ['3', '1-3', '3-5', '4-5', '1']
    >>> rules.predict(data.data[::100])
    array(['setosa', 'virginica'], dtype='<U10')
    """

    _domain: Domain
    dropped: tuple[str, ...] = ()
    _numbers: tuple[int, ...] | None = None

    @property
    def numbers(self) -> tuple[int, ...]:
        """The number of each rule; slices and filters keep it.

        It is the number of its box, the row in `lower_` and `upper_` of the model, which does not change while the
        model learns, since boxes are only added. For boxes merged by `simplify` it is the lowest number. Rules of an
        ensemble combine boxes of several members and are numbered from 1 in each list.
        """
        if self._domain.n_members == 1:
            return tuple(rule.nodes[0] for rule in self)
        return tuple(range(1, len(self) + 1)) if self._numbers is None else self._numbers

    @overload
    def __getitem__(self, place: int) -> Rule: ...
    @overload
    def __getitem__(self, place: slice) -> RuleSet: ...
    def __getitem__(self, place: int | slice) -> Rule | RuleSet:
        if isinstance(place, slice):
            return RuleSet(self.rules[place], self._domain, self.dropped, self.numbers[place])
        return self.rules[place]

    def __repr__(self) -> str:
        n_classes, n_features = len(self.classes), len(self.feature_names)
        return f"RuleSet of {plural(len(self), 'rule')} for {n_classes} classes over {n_features} features"

    @property
    def noun(self) -> str:
        """Noun before the number of a rule: "Box", or in an ensemble "Boxes", a group of boxes with the same text."""
        return self._domain.noun

    @property
    def classes(self) -> tuple[Label, ...]:
        """The classes of the model, sorted."""
        return tuple(self._domain.classes.tolist())

    @property
    def feature_names(self) -> tuple[str, ...]:
        """The features of the conditions of each rule, in order."""
        return tuple(scale.feature for scale in self.scales)

    @property
    def scales(self) -> tuple[Scale, ...]:
        """The scale of each feature: levels with their cut points and terms, or categories."""
        return self._domain.scales

    def filter(
        self,
        label: Label | None = None,
        *,
        min_confidence: float = 0,
        min_support: float = 0,
        feature: str | None = None,
    ) -> RuleSet:
        """Return the rules that meet all given criteria.

        Parameters
        ----------
        label : class, default=None
            Only rules that predict this class.
        min_confidence : float, default=0
            Only rules whose class has at least this share of their labelled samples.
        min_support : float, default=0
            Only rules with at least this number of samples, labelled and unlabelled.
        feature : str, default=None
            Only rules with a condition on this feature.

        Returns
        -------
        RuleSet
        """
        confidence = check_number("filter", "min_confidence", min_confidence, 0, 1)
        support = check_number("filter", "min_support", min_support, 0)
        if label is not None and label not in self.classes:
            raise ValueError(f"The model has no class {label!r}. {known_names(self.classes, 'classes')}")
        if feature is not None and feature not in self.feature_names:
            raise ValueError(f"The model has no feature {feature!r}. {known_names(self.feature_names)}")
        place = None if feature is None else self.feature_names.index(feature)
        kept = [
            (rule, number)
            for rule, number in zip(self, self.numbers, strict=True)
            if (label is None or rule.label == label)
            and rule.confidence >= confidence
            and rule.support >= support
            and (place is None or not rule.conditions[place].full_range)
        ]
        rules, numbers = zip(*kept, strict=True) if kept else ((), ())
        return RuleSet(rules, self._domain, self.dropped, numbers)

    def predict(self, X: Any) -> NDArray[Any]:
        """Predict the class of each sample by the nearest rule.

        The nearest rule has the smallest L1 distance between its box and the sample, in features scaled to [0, 1];
        features without a condition and missing values add nothing. Ties are broken by the confidence factor, then by
        order. The model's own `predict` also takes the size of the boxes into account, uses votes in an ensemble, and
        with evidence mapping sums the contributions of all boxes, so that it may predict another class.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Raw features, as for the model.

        Returns
        -------
        array of shape (n_samples,)
        """
        if not self.rules:
            raise ValueError("There is no rule to predict with: lower min_confidence or min_support, or filter less.")
        indices = np.array([self.classes.index(rule.label) for rule in self])
        return np.asarray(self._domain.classes[indices[self._domain.nearest(self, self._domain.encode(X))]])

    def to_text(self) -> str:
        """Return the rules in the paper's text form, with ranges in the user's units in brackets.

        Features without a condition are omitted. A rule without any condition begins with "If anything", or with
        "Otherwise" if it is the last of several, for samples in no other rule.
        """
        texts = (
            of_boxes.rule_text(number, rule, self._domain, is_rest=len(self) > 1 and rule is self.rules[-1])
            for number, rule in zip(self.numbers, self, strict=True)
        )
        return "\n\n".join(texts)

    def to_frame(self) -> Any:
        """Return the paper's rule table as a pandas DataFrame, with the numbers of the rules as index.

        A cell holds the level of a feature ("1"), its first and last level ("2-3"), its categories ("blue|red"), or
        "any". After the features come the label, the confidence of each class, support, how many of these samples were
        labelled, the number of members that have the rule, and the confidence factor; with evidence mapping also the
        evidence of its box for each class, NaN for a box without a weight. A feature named like one of these columns,
        such as "label", becomes "feature label", also in Markdown and HTML.
        """
        cells = [of_boxes.table_row(rule, self._domain) for rule in self]
        return self._frame(cells, of_boxes.table_head(self._domain))

    def _csv_frame(self) -> Any:
        return self.to_frame().join(self._frame([of_boxes.value_cells(rule) for rule in self], None))

    def _frame(self, rows: list[Any], columns: list[str] | None) -> Any:
        pd = optional("pandas", "data")
        return pd.DataFrame(rows, pd.Index(self.numbers, name=of_boxes.NUMBER, dtype="int64"), columns)

    def to_dict(self) -> dict[str, Any]:
        """Return the rule set as plain values: classes, features with their terms and cut points, rules, `dropped`."""
        pairs = zip(self.numbers, self, strict=True)
        return {
            "kind": "boxes",
            "classes": list(self.classes),
            "n_members": self._domain.n_members,
            "features": [of_boxes.scale_values(scale) for scale in self.scales],
            "rules": [{"number": number, **of_boxes.rule_values(rule)} for number, rule in pairs],
            "dropped": list(self.dropped),
        }

    def to_markdown(self) -> str:
        """Return the table of `to_frame` in Markdown."""
        return markdown_table(*self._table(), plain=True) + "\n"

    def to_html(self) -> str:
        """Return the table of `to_frame` in HTML; cells have their terms and ranges as tooltips."""
        head, rows = self._table()
        return _html(
            head, [of_boxes.with_titles(*one, self._domain) for one in zip(rows, self, strict=True)], repr(self)
        )

    def _table(self) -> tuple[list[str], list[list[str]]]:
        """Return head and rows of the table as text."""
        rows = [
            [str(number), *of_boxes.text_row(rule, self._domain)]
            for number, rule in zip(self.numbers, self, strict=True)
        ]
        return [of_boxes.NUMBER, *of_boxes.table_head(self._domain)], rows


@dataclass(frozen=True, eq=False, repr=False)
class ModelRuleSet(_Rules[ModelRule]):
    """A few short, mutually exclusive rules that agree with a model, and a default rule for the rest.

    Returned by `rules_of`. Every sample meets exactly one rule: one with conditions, or else the last one, which has
    none. A missing value meets a condition only if the condition ends with "or missing". Rules are numbered from 1, by
    decreasing coverage. The numbers are only valid for this rule set: rules extracted after an update have new numbers.
    Box rules have permanent ones: see `RuleSet`.

    Attributes
    ----------
    rules : tuple of ModelRule
    n_samples : int
        Number of samples that the rules were extracted for.
    from_boxes : bool
        Whether these samples were drawn from the boxes, because none were given.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from sslart import AutoSSLART
    >>> data = load_iris(as_frame=True)
    >>> y = data.target_names[data.target]
    >>> rules = AutoSSLART(random_state=0).fit(data.data, y).rules(data.data, y, max_rules=3)
    >>> print(rules.to_text())
    3 rules that give what the model predicts for 96.6 % of 29 held-out samples.
    <BLANKLINE>
    Rule 1: if petal width (cm) ≤ 0.8, then setosa
       covers 50 of 150 samples (33 %); the model agrees: 5 of 5 held out (100 %)
       right on labelled samples: 50 of 50 (100 %, 95 % interval 92.9 % to 100 %)
    <BLANKLINE>
    Rule 2: if petal length (cm) ≤ 5, and 0.8 < petal width (cm) ≤ 1.7, then versicolor
       covers 50 of 150 samples (33 %); the model agrees: 13 of 14 held out (92.9 %)
       right on labelled samples: 48 of 50 (96.0 %, 95 % interval 87 % to 98.9 %)
    <BLANKLINE>
    Rule 3: otherwise virginica
       covers 50 of 150 samples (33 %); the model agrees: 10 of 10 held out (100 %)
       right on labelled samples: 47 of 49 (95.9 %, 95 % interval 86 % to 98.9 %)
    >>> print(rules.to_sql())
    CASE
      WHEN "petal width (cm)" <= 0.8 THEN 'setosa'
      WHEN "petal length (cm)" <= 5 AND "petal width (cm)" > 0.8 AND "petal width (cm)" <= 1.7 THEN 'versicolor'
      ELSE 'virginica'
    END
    >>> rules.predict(data.data[::60])
    array(['setosa', 'versicolor', 'virginica'], dtype='<U10')
    """

    _classes: NDArray[Any]
    _names: list[str]
    n_samples: int
    from_boxes: bool
    _model: Any
    _reader: SampleReader

    @overload
    def __getitem__(self, place: int) -> ModelRule: ...
    @overload
    def __getitem__(self, place: slice) -> tuple[ModelRule, ...]: ...
    def __getitem__(self, place: int | slice) -> ModelRule | tuple[ModelRule, ...]:
        return self.rules[place]

    def __repr__(self) -> str:
        return f"ModelRuleSet of {plural(len(self), 'rule')} for {plural(len(self.classes), 'class')}"

    @property
    def classes(self) -> tuple[Label, ...]:
        """The classes of the model, sorted."""
        return tuple(self._classes.tolist())

    @property
    def feature_names(self) -> tuple[str, ...]:
        """The features of the model, in order."""
        return tuple(self._names)

    @property
    def n_held_out(self) -> int:
        """Number of held-out samples, by which the agreement is measured: a fifth of those given; 0 of few."""
        return sum(rule.n_held_out for rule in self)

    @property
    def agreement(self) -> float:
        """Share of `n_held_out` on which the rules agree with the model; NaN without a sample."""
        return sum(rule.n_agreeing for rule in self) / self.n_held_out if self.n_held_out else nan

    def apply_table(self, table: Table) -> IntArray:
        """Return the index of the rule that each sample of a `Table` meets."""
        return of_model.first_met([rule.conditions for rule in self], self._names, table)

    def apply(self, X: Any) -> IntArray:
        """Return the number of the rule that each sample meets.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Samples as the model takes them.

        Returns
        -------
        array of shape (n_samples,)
        """
        return self.apply_table(self._reader.read(X)) + 1

    def predict(self, X: Any) -> NDArray[Any]:
        """Predict the class of each sample by the rules.

        If a rule means abstention, it is -1 for integer classes and None for others, as for the model.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Samples, as in `apply`.

        Returns
        -------
        array of shape (n_samples,)
            Classes.
        """
        places = self.apply_table(self._reader.read(X))
        outcomes = [rule.label for rule in self]
        if None not in outcomes:
            return np.array(outcomes, dtype=self._classes.dtype)[places]
        if self._classes.dtype.kind == "i" and UNLABELLED not in self.classes:
            return np.array([UNLABELLED if label is None else label for label in outcomes])[places]
        return np.array(outcomes, dtype=object)[places]

    def fidelity(self, X: Any) -> float:
        """Return the fidelity: the share of samples for which the rules agree with the current model.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Samples with or without labels, preferably not those used to extract the rules.
        """
        view = view_of(self._model)
        table = view.read(X)
        predicted = view.labels_or_none(view.predict(table).indices)
        agrees = [
            self.rules[place].label == label for place, label in zip(self.apply_table(table), predicted, strict=True)
        ]
        return float(np.mean(agrees))

    def summary(self) -> str:
        """Return the number of rules and their agreement with the model; first, whether its skill is not shown."""
        note = "" if view_of(self._model).shows_skill else f"{NO_FINDING} "
        return note + self._agreement_text()

    def _agreement_text(self) -> str:
        rules = plural(len(self), "rule")
        if not self.n_held_out:
            return (
                f"{rules}. {plural(self.n_samples, 'sample')}: too few to measure how often they agree with the model."
            )
        give = "gives" if len(self) == 1 else "give"
        drawn = " drawn from its boxes" if self.from_boxes else ""
        warning = " Real samples may agree less often." if self.from_boxes else ""
        return (
            f"{rules} that {give} what the model predicts for {share_text(self.agreement)} of "
            f"{plural(self.n_held_out, 'held-out sample')}{drawn}.{warning}"
        )

    def _layout(self) -> dict[str, bool]:
        return {"alone": len(self) == 1, "about": self.from_boxes}

    def _rows(self) -> list[list[str]]:
        return [of_model.rule_cells(rule, self.n_samples, **self._layout()) for rule in self]

    def to_text(self) -> str:
        """Return the rules as text, each with its coverage and accuracy."""
        rules = [of_model.rule_text(rule, self.n_samples, **self._layout()) for rule in self]
        return "\n\n".join([self.summary(), *rules])

    def to_markdown(self) -> str:
        """Return the rules as a table in Markdown."""
        return f"{self.summary()}\n\n{markdown_table(of_model.HEAD, self._rows(), plain=True)}\n"

    def to_html(self) -> str:
        """Return the rules as a table in HTML, without a page around it."""
        return _html(of_model.HEAD, self._rows(), self.summary())

    def to_frame(self) -> Any:
        """Return the rules as a pandas DataFrame, a row per rule.

        The columns are number, class, counts and shares, and for each feature with a condition "<feature> above" and
        "<feature> at most", or "<feature> is" and "<feature> is not" with the categories, joined by "|"; and
        "<feature> missing": "yes" if missing values meet the condition too, "only" if only they do, "no" if any known
        value does. Cells are empty if a rule has no such condition.
        """
        pd = optional("pandas", "data")
        every = dict.fromkeys(name for rule in self for one in rule.conditions for name in of_model.bounds(one))
        frame = pd.DataFrame([self._values(rule) | every | _bounds(rule) for rule in self], dtype=object)
        return frame.where(frame.notna(), None).set_index("rule")

    def _values(self, rule: ModelRule) -> dict[str, Any]:
        low, high = rule.right.interval
        return {
            "rule": rule.number,
            "class": rule.label,
            "conditions": of_model.conditions_text(rule, alone=len(self) == 1),
            "n_covered": rule.n_covered,
            "coverage": round(rule.coverage, 6),
            "n_held_out": rule.n_held_out,
            "n_agreeing": rule.n_agreeing,
            "agreement": round(rule.agreement, 6),
            "n_labelled": rule.right.total,
            "n_right": rule.right.count,
            "right_low": round(low, 6),
            "right_high": round(high, 6),
        }

    def to_dict(self) -> dict[str, Any]:
        """Return the rule set as plain values: classes, features, samples, agreement, and rules."""
        return {
            "kind": "model",
            "classes": list(self.classes),
            "features": list(self.feature_names),
            "n_samples": self.n_samples,
            "from_boxes": self.from_boxes,
            "n_held_out": self.n_held_out,
            "agreement": self.agreement if self.n_held_out else None,
            "rules": [of_model.rule_values(rule) for rule in self],
        }

    def to_sql(self, result: str = "class") -> str:
        """Return the rules as an SQL expression, ``CASE WHEN ... END``, for a table with the features as columns.

        Missing values are NULL. Names are in double quotes and texts in single quotes, as in standard SQL, which
        PostgreSQL, SQLite, DuckDB, Oracle and SQL Server follow. A text with a backslash raises a warning, because some
        other databases would read it as an escape. Dates are timestamps or texts in ISO 8601; rules with dates work in
        SQLite, PostgreSQL and DuckDB.

        Parameters
        ----------
        result : {"class", "rule"}, default="class"
            Result of the expression: the class, or the number of the rule.
        """
        return sql_code(self, check_option("to_sql", "result", result, RESULTS))

    def to_python(self, name: str = "predict", result: str = "class") -> str:
        """Return the rules as the source of a Python function of one sample, without dependencies.

        Dates are `date` or `datetime` objects, or texts in ISO 8601.

        Parameters
        ----------
        name : str, default="predict"
            Name of the function.
        result : {"class", "rule"}, default="class"
            Result of the function: the class, or the number of the rule.
        """
        if not is_name(name):
            raise ValueError(f"name of to_python must be the name of a function, such as 'predict', got {name!r}.")
        return python_code(self, name, check_option("to_python", "result", result, RESULTS))


def _bounds(rule: ModelRule) -> dict[str, Any]:
    return {name: value for condition in rule.conditions for name, value in of_model.bounds(condition).items()}
