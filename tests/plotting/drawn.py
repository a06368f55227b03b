"""Data sets, models and figures that the tests of displays share."""

from functools import cache

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
import pytest
from sklearn.datasets import load_breast_cancer, load_digits, load_iris, load_wine

from sslart import SSLART, WESSLART


@pytest.fixture(autouse=True)
def no_figure_is_left_open():
    """Close what a test has drawn."""
    plt.close("all")
    yield
    plt.close("all")


def make(n_features, n_classes, per_class=12):
    random = np.random.RandomState(0)
    centres = 10 * random.rand(n_classes, n_features)
    X = np.repeat(centres, per_class, axis=0) + 0.3 * random.randn(n_classes * per_class, n_features)
    return X, np.repeat([f"class {place}" for place in range(n_classes)], per_class)


def many():
    """Return 60 features and 12 classes whose long names differ only at the end, or in the middle."""
    X, y = make(60, 12)
    names = [f"mean concentration of protein number {place} (ng/ml)" for place in range(60)]
    return pd.DataFrame(X, columns=names), np.array([f"disease {one} of the liver, with complications" for one in y])


def mixed():
    """Return numbers and categories, with long names and missing values."""
    random = np.random.RandomState(0)
    y = np.repeat(["responder", "non-responder"], 30)
    smoker = random.choice(["never", "former smoker of many years", "current"], 60).astype(object)
    smoker[::7] = None
    age = 50 + 10.0 * (y == "responder") + random.randn(60)
    age[::5] = np.nan
    pressure = random.normal(130, 20, 60)
    return pd.DataFrame({"age (years)": age, "smoker": smoker, "blood pressure, systolic (mmHg)": pressure}), y


DATA = {
    "breast cancer": lambda: load_breast_cancer(return_X_y=True, as_frame=True),
    "iris": lambda: load_iris(return_X_y=True, as_frame=True),
    "wine": lambda: load_wine(return_X_y=True),
    "digits": lambda: tuple(part[:300] for part in load_digits(return_X_y=True)),
    "2 features": lambda: make(2, 2),
    "12 classes": lambda: make(4, 12),
    "60 features": many,
    "mixed": mixed,
}


@cache
def ensemble_of(name):
    """Return an ensemble, its samples, half of their labels, and all labels of a data set."""
    X, y = DATA[name]()
    few = np.asarray(y).astype(object)
    few[1::2] = None
    return WESSLART(n_members=3, vigilance=0.5, random_state=0).fit(X, few), X, few, y


@cache
def wine_model():
    """Return a model that has learnt wine, the samples, and their classes."""
    data = load_wine(as_frame=True)
    y = data.target_names[data.target]
    return SSLART(vigilance=0.5, random_state=0).fit(data.data, y), data.data, y


def rendered(display):
    """Return the display after drawing every part of it, so that what cannot be drawn fails."""
    display.figure_.draw_without_rendering()
    return display
