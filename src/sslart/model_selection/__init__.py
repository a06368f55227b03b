"""Cross-validation with few labels: test folds have labelled samples only, unlabelled ones are always in training."""

from sslart.model_selection._splitters import (
    GroupLabelledKFold,
    LabelledKFold,
    RepeatedStratifiedLabelledKFold,
    StratifiedGroupLabelledKFold,
    StratifiedLabelledKFold,
    StratifiedLabelledShuffleSplit,
    is_labelled,
)
from sslart.model_selection._with_unlabelled import WithUnlabelled

__all__ = [
    "GroupLabelledKFold",
    "LabelledKFold",
    "RepeatedStratifiedLabelledKFold",
    "StratifiedGroupLabelledKFold",
    "StratifiedLabelledKFold",
    "StratifiedLabelledShuffleSplit",
    "WithUnlabelled",
    "is_labelled",
]
