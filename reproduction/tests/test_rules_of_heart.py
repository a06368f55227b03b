from __future__ import annotations

import re

from reproduction.datasets import load_heart_cleveland
from reproduction.tests import needs_data
from sslart import SSLART
from sslart.rules import rules_of


@needs_data
def test_the_table_of_heart_disease_has_the_columns_of_the_paper() -> None:
    data = load_heart_cleveland(as_frame=True)
    rules = rules_of(SSLART(0.7, random_state=0).fit(data.data, data.target), kind="boxes")
    table = rules.to_frame()
    features = ["age", "sex", "cp", "trestbps", "chol", "fbs", "restecg"]
    features += ["thalach", "exang", "oldpeak", "slope", "ca", "thal"]
    assert list(table.columns[:13]) == features
    assert [name for name in table.columns if name.startswith("confidence ")] == [
        f"confidence {label}" for label in rules.classes
    ]
    assert len(rules.classes) == 2
    assert table[features].map(lambda text: bool(re.fullmatch(r"[1-5](-[1-5])?|any", text))).all(axis=None)
    assert table.index.tolist() == list(rules.numbers)
    short = rules_of(
        SSLART(0.7, random_state=0).fit(data.data, data.target), kind="boxes", simplify=(data.data, data.target)
    )
    assert (short.predict(data.data) == rules.predict(data.data)).all()
