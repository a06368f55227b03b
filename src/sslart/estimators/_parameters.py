"""The parameters of all estimators in one table: names, descriptions, constraints, and the effect on predictions.

Default values are in the signatures of the classes, which are written out for readers and tools. The rest is derived
from the table: `documented` writes the sections Parameters and Attributes of a class, `Parameter.check` validates a
value, and `values_of` reads the values that learning or predictions depend on. The command line derives its options
from it:

>>> from sslart import SSLART
>>> given = parameters_of(SSLART)["vigilance"]
>>> given.default, given.meaning, given.constraint
(0.9, 'ρ in [0, 1]: minimum similarity of the samples of one box', Number(low=0, high=1, open_low=False, or_none=False))
"""

from __future__ import annotations

import inspect
import operator
import re
import textwrap
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cache
from numbers import Real
from typing import Any, TypeVar

from sslart._data.ranks import AUTO, SCALINGS
from sslart._mapping.decision_rules import check_costs, check_max_error
from sslart._mapping.evidence.settings import MAX_SETTING, MIN_SETTING
from sslart._utils.validation import check_certainty, check_flag, check_jobs, check_number, check_option, check_whole

EVIDENCE = "evidence"
MAPPINGS = ("one-to-many", "one-to-one", EVIDENCE)
LABELLED = "labelled"  # value of `validation`: class weights are measured on the training samples
VOTINGS = ("weighted", "majority")
MIN_NODES = 2  # so that there is room for a new box after joining the others
WIDTH = 112  # of the text of a section in a docstring, which is indented by eight

Class = TypeVar("Class")


@dataclass(frozen=True)
class Number:
    """A number in a range."""

    low: float
    high: float | None = None
    open_low: bool = False
    or_none: bool = False

    def __call__(self, owner: str, name: str, value: Any) -> float | None:
        """Return the value as a float, or raise a ValueError with the range."""
        if value is None and self.or_none:
            return None
        return check_number(owner, name, value, self.low, self.high, open_low=self.open_low)

    def __str__(self) -> str:
        return "float or None" if self.or_none else "float"


@dataclass(frozen=True)
class Whole:
    """A whole number with a lower limit."""

    low: int = 1
    or_none: bool = False

    def __call__(self, owner: str, name: str, value: Any) -> int | None:
        """Return the value as an int, or raise a ValueError."""
        return check_whole(owner, name, value, self.low, or_none=self.or_none)

    def __str__(self) -> str:
        return "int or None" if self.or_none else "int"


@dataclass(frozen=True)
class OneOf:
    """One of several words."""

    options: tuple[str, ...]

    def __call__(self, owner: str, name: str, value: Any) -> str:
        """Return the value, or raise a ValueError with the options."""
        return check_option(owner, name, value, self.options)

    def __str__(self) -> str:
        return "{" + ", ".join(f'"{one}"' for one in self.options) + "}"


def _choice(owner: str, name: str, value: Any) -> float:
    if isinstance(value, int | float) and value == 0:
        raise ValueError(
            f"choice of {owner} must be above 0: at 0 all boxes that contain a sample tie, whatever their size, "
            "and the choice of a box over the whole range is undefined. For the limit α → 0, in which the smallest "
            "of them wins, give a small number such as 1e-9."
        )
    return check_number(owner, name, value, 0, open_low=True)


def _validation(owner: str, name: str, value: Any) -> str | float:
    if isinstance(value, Real) and not isinstance(value, bool):
        share = check_number(owner, name, value, 0, 1, open_low=True)
        if share == 1:
            raise ValueError(f"validation of {owner} must leave samples to learn from: a share below 1, got 1.")
        return share
    if value != LABELLED:
        raise ValueError(f"validation of {owner} must be 'labelled' or a share in (0, 1), got {value!r}.")
    return LABELLED


@dataclass(frozen=True)
class Parameter:
    """A parameter of estimators.

    Attributes
    ----------
    name : str
    meaning : str
        Description in one clause, without a full stop; also used by the command line.
    more : str
        Further sentences for the reference.
    constraint : callable or None
        Validator: takes the names of the estimator and the parameter, and a value, which it returns in its plain type.
        None if validation needs other parameters or the data.
    predicts : bool
        Whether it affects predictions at once; else it takes effect in the next call that learns.
    type : str
        Type in numpydoc; empty: that of the constraint.
    default : object
        Default in a class: see `parameters_of`.
    """

    name: str
    meaning: str
    more: str = ""
    constraint: Callable[[str, str, Any], Any] | None = None
    predicts: bool = False
    type: str = ""
    default: Any = None

    def check(self, owner: str, value: Any) -> Any:
        """Validate a value and return it in its plain type."""
        return value if self.constraint is None else self.constraint(owner, self.name, value)

    def section(self) -> str:
        """Return the parameter as an entry of a numpydoc section."""
        default = f'"{self.default}"' if isinstance(self.default, str) else repr(self.default)
        return _entry(
            f"{self.name} : {self.type or self.constraint}, default={default}", f"{self.meaning}. {self.more}"
        )


SETTING = Number(MIN_SETTING, MAX_SETTING, or_none=True)  # of evidence mapping
HALF_LIFE = Parameter(
    "half_life",
    "In `partial_fit`, number of further samples after which a sample counts half, from 1 up: supports and counts "
    "decay, and boxes without recent samples are dropped",
    "`fit` does not forget. None: no forgetting.",
    type="float or None",
)
SCALING = Parameter(
    "scaling",
    "Scaling of numeric features to [0, 1]: by their range, as in the paper, or by rank among the values of the first "
    "call, for skewed features and outliers",
    constraint=OneOf(SCALINGS),
)
TABLE = {
    one.name: one
    for one in (
        Parameter("n_members", "M: number of members", constraint=Whole()),
        Parameter(
            "voting",
            "Weight of a vote: We_c^m (WESSL-ART) or one (VESSL-ART)",
            constraint=OneOf(VOTINGS),
            predicts=True,
        ),
        Parameter(
            "quorum",
            "Minimum number of members that vote; with fewer the ensemble abstains",
            "It matters with `search_depth`, without which every member votes on every sample.",
            constraint=Whole(),
            predicts=True,
        ),
        Parameter(
            "validation",
            "Samples on which `fit` measures We_c^m: the labelled training samples, or a share of them in (0, 1) that "
            "is held out (stratified by class) and learnt by no member",
            'A `validation_set` given to `fit` overrides it. With evidence mapping it must be "labelled": We_c^m is '
            "then measured by leave-one-out.",
            constraint=_validation,
            type='"labelled" or float',
        ),
        Parameter(
            "vigilance",
            "ρ in [0, 1]: minimum similarity of the samples of one box",
            "Higher values make more and smaller boxes.",
            constraint=Number(0, 1),
        ),
        Parameter(
            "max_nodes",
            f"Maximum number of boxes, from {MIN_NODES} up",
            "If there is no room for a new box, the closest ones are joined, and vigilance is lowered as needed: see "
            "`vigilance_`. None: no limit.",
            constraint=Whole(MIN_NODES, or_none=True),
        ),
        Parameter("choice", "α > 0: larger values favour larger boxes", constraint=_choice, type="float"),
        Parameter(
            "learning_rate",
            "β in (0, 1]: how far a box moves towards a sample; with 1 it grows to contain the sample at once",
            constraint=Number(0, 1, open_low=True),
        ),
        Parameter(
            "mapping",
            "Mapping from boxes to classes: a box may contain several classes and predicts the majority (OtM), or one "
            "class only, by match tracking (OtO); or all boxes contribute, near ones most, with weights of a ridge "
            "regression on the labels (evidence)",
            constraint=OneOf(MAPPINGS),
        ),
        Parameter(
            "match_tracking",
            "δ ≥ 0: with one-to-one mapping, how far vigilance rises above the match of a box of the wrong class",
            constraint=Number(0),
        ),
        Parameter(
            "search_depth",
            "T: number of best boxes that `predict` searches for one with a label before it abstains",
            "None: no limit.",
            constraint=Whole(or_none=True),
            predicts=True,
        ),
        Parameter(
            "abstain_below",
            "`predict` abstains if the highest probability is below this",
            constraint=Number(0, 1, or_none=True),
            predicts=True,
        ),
        Parameter(
            "max_error",
            "In (0, 1]: `predict` abstains so that at most this share of the samples that it does predict are wrong, "
            "for new samples like the labelled ones",
            "From a dict, of those predicted as a class, and it does not abstain from other classes. It needs evidence "
            "mapping. Where labels are too few, or too many of them are predicted wrongly, it abstains from all, with "
            "a warning.",
            constraint=lambda owner, _, value: None if value is None else check_max_error(owner, value),
            predicts=True,
            type="float, dict from class to float, or None",
        ),
        Parameter(
            "confidence",
            "In (0, 1): the probability, over the draw of the labels, that `max_error` holds for this model",
            "None: `max_error` holds on average over training sets alone, so that more is answered, and for many "
            "models more are wrong.",
            constraint=check_certainty,
            predicts=True,
            type="float or None",
        ),
        Parameter(
            "decision_costs",
            "Costs of predictions: `predict` returns the class of the lowest expected cost by `predict_proba`",
            "Rows are true classes and columns predicted ones, in the order of `classes_`. In a dict from (true, "
            'predicted) to the cost, pairs left out cost 1 if wrong and 0 if correct. "balanced": costs are '
            "inversely proportional to class frequencies, for a high balanced accuracy. None: the most probable class "
            "is predicted.",
            constraint=lambda owner, _, value: None if value is None else check_costs(owner, value),
            predicts=True,
            type='array-like of shape (n_classes, n_classes), dict, "balanced" or None',
        ),
        Parameter(
            "class_weight",
            "Weights of the labels of each class in the regression, in the selection of settings and in probabilities",
            "Classes missing in a dict have weight 1. Balanced: all classes have the same total weight.",
            type='"balanced", dict from class to weight, or None',
        ),
        Parameter(
            "families",
            "With evidence mapping, the families of basis functions",
            '"box" (over all features), "relevant" (features weighted by the variance that they explain), "feature" '
            '(a curve for each), "linear", "subspace" (boxes over a few features), "propagated" (label propagation '
            'over the graph of boxes), "trees" (randomised decision trees). They are weighted by leave-one-out. None: '
            "all.",
            type="sequence of str or None",
        ),
        Parameter(
            "bandwidth",
            "τ from 1e-6 to 1e6: bandwidth of the contribution of a box, which decays with the distance",
            "None: selected by leave-one-out.",
            constraint=SETTING,
        ),
        Parameter(
            "ridge",
            "λ from 1e-6 to 1e6: regularisation of the ridge regression",
            "None: selected by leave-one-out.",
            constraint=SETTING,
        ),
        Parameter(
            "rank_weight",
            "From 0 to 1: distances are measured in the range (0), in ranks (1), or in a mixture",
            "None: selected by leave-one-out.",
            constraint=Number(0, 1, or_none=True),
        ),
        Parameter(
            "max_labels",
            "With evidence mapping, maximum number of stored labelled samples; of more, a uniform sample is kept",
            constraint=Whole(),
        ),
        replace(
            HALF_LIFE,
            type='float, "auto" or None',
            more=f'{HALF_LIFE.more} "auto", with evidence mapping only: the half-life of labels is selected in the '
            "stream, and boxes do not decay.",
        ),
        Parameter(
            "bounds",
            "Range of the features, if it is known in advance; two numbers, or two sequences with one per feature",
            "None: the range of the data of the first call. Values out of range widen it.",
            type="(lower, upper)",
        ),
        SCALING,
        Parameter(
            "shuffle",
            "Whether `fit` learns the samples in random order instead of the given one",
            "Unlabelled samples come before labelled ones in either case.",
            constraint=check_flag,
            type="bool",
        ),
        Parameter(
            "random_state",
            "Seed of the order of learning, and of the samples that an ensemble holds out",
            type="int, RandomState instance or None",
        ),
        Parameter(
            "n_jobs",
            "Number of threads for predictions, and for learning the members of an ensemble",
            "None: 1; -1: all cores. Results do not depend on it.",
            constraint=lambda owner, _, value: check_jobs(owner, value),
            predicts=True,
            type="int or None",
        ),
    )
}
OF_CLASSES = {
    "FuzzyART": {"half_life": HALF_LIFE},
    "FuzzyARTMAP": {"half_life": HALF_LIFE},
    "AutoSSLART": {
        "scaling": replace(
            SCALING,
            more="Auto: by rank for features with most values in a small part of their range in the first call; see "
            "`scaling_` for the result.",
            constraint=OneOf((AUTO, *SCALINGS)),
        )
    },
}


@cache
def parameter_of(cls: Any, name: str) -> Parameter:
    """Return a parameter of a class, without its default; parameters of subclasses of users are undocumented."""
    own = (OF_CLASSES.get(base.__name__, {}).get(name) for base in cls.__mro__)
    known = TABLE.get(name, Parameter(name, "object", "A parameter of the subclass"))
    return next((one for one in own if one is not None), known)


@cache
def parameters_of(cls: Any) -> dict[str, Parameter]:
    """Return the parameters of an estimator by name, in the order of its signature, with their defaults."""
    given = list(inspect.signature(cls.__init__).parameters.values())[1:]
    return {one.name: replace(parameter_of(cls, one.name), default=one.default) for one in given}


@cache
def values_of(cls: Any, predicts: bool, without: str = "bounds") -> Callable[[Any], tuple[Any, ...]]:
    """Return a getter of the parameter values of an estimator that affect predictions, or learning.

    Without one parameter: `bounds` cannot change after the first call.
    """
    names = [one.name for one in parameters_of(cls).values() if one.predicts == predicts and one.name != without]
    return operator.attrgetter(*names, "__class__")  # with a single name it would not return a tuple


def documented(cls: Class) -> Class:
    """Class decorator: insert the sections Parameters and Attributes into the docstring, before notes and examples."""
    if cls.__doc__ is not None:  # None under python -OO
        doc = inspect.cleandoc(cls.__doc__)
        head, heading, rest = re.split(r"^((?:Notes|Examples)\n-+\n)", doc, maxsplit=1, flags=re.MULTILINE)
        parameters = "\n".join(one.section() for one in parameters_of(cls).values())
        attributes = "\n".join(_attributes_of(cls))
        cls.__doc__ = (
            f"{head}Parameters\n----------\n{parameters}\n\nAttributes\n----------\n{attributes}\n\n{heading}{rest}"
        )
    return cls


def _attributes_of(cls: Any) -> list[str]:
    """Return a numpydoc entry for each public property with a trailing underscore."""
    found: dict[str, str] = {}
    for base in cls.__mro__:
        for name, value in vars(base).items():
            if isinstance(value, property) and name.endswith("_") and not name.startswith("_") and name not in found:
                found[name] = _entry(f"{name} : {_type_of(value)}", inspect.cleandoc(value.__doc__ or ""))
    return list(found.values())


def _type_of(attribute: property) -> str:
    annotation = str(inspect.signature(attribute.fget).return_annotation)  # type: ignore[arg-type]
    if "Array" in annotation:
        return "array"
    return re.sub(r"dict\[(\w+), (\w+)\]", r"dict from \1 to \2", re.sub(r"list\[(\w+)\]", r"list of \1", annotation))


def _entry(heading: str, text: str) -> str:
    return f"{heading}\n{textwrap.indent(textwrap.fill(text, WIDTH, break_on_hyphens=False), '    ')}"
