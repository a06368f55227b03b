"""
Explain one prediction
======================

A model that predicts the course of a disease needs an explanation. Here :class:`~sslart.AutoSSLART` learns from the
diabetes data of scikit-learn, in which the course of one training patient in three is known, and explains its
prediction for a patient of the test set.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_diabetes
from sklearn.model_selection import train_test_split

from sslart import AutoSSLART
from sslart.plotting import EvidenceDisplay

NAMES = {
    "age": "age (years)",
    "sex": "sex",
    "bmi": "body mass index (kg/m²)",
    "bp": "blood pressure (mm Hg)",
    "s2": "LDL cholesterol (mg/dl)",
    "s3": "HDL cholesterol (mg/dl)",
    "s6": "blood sugar (mg/dl)",
}
diabetes = load_diabetes(as_frame=True, scaled=False)
X = diabetes.data[list(NAMES)].rename(columns=NAMES)
X["sex"] = X["sex"].map({1: "code 1", 2: "code 2"}).astype("category")  # the data do not state which is which
y = np.where(diabetes.target > diabetes.target.median(), "fast", "slow")  # how the disease went on in a year

X_train, X_test, y_train, y_test = train_test_split(X, y, test_size=0.3, stratify=y, random_state=0)
few = np.where(np.arange(len(y_train)) % 3 == 0, y_train, None)
model = AutoSSLART(random_state=0).fit(X_train, few)
print(f"right on {model.score(X_test, y_test):.0%} of {len(y_test)} test patients")

# %%
# A patient of the test set for whom one finding makes the difference. The text lists the contributions, in the units of
# the clinic, and what would change the prediction.
explanations = model.explain(X_test[:30])
place = next(n for n, one in enumerate(explanations) if one.counterfactual and len(one.counterfactual.changes) == 1)
patient, why = X_test.iloc[[place]], explanations[place]
print(why)

# %%
# The same as a picture. It starts from an average patient of the training set. Each bar is what one finding adds to the
# score: bars to the right are for the predicted class, bars to the left against it. They add up to the score of this
# patient.
EvidenceDisplay.from_explanation(why)
plt.show()

# %%
# What to see: which findings contribute to the prediction, and which are against it. This is what the model has learnt
# from a hundred patients, not medicine: a physician may well find a bar that points the wrong way, and that is what the
# picture is for.
#
# The last line of the text gives a small change that leads to the other prediction. It was checked by predicting it.
# Here all else stays, and that finding takes each of its values in the training data.
(change, *others) = why.counterfactual.changes
values = np.sort(X_train[change.feature].dropna().unique())
variants = patient.loc[patient.index.repeat(len(values))].assign(**{change.feature: values})
risk = model.predict_proba(variants)[:, list(model.classes_).index("fast")]

fig, ax = plt.subplots(figsize=(6.0, 3.4), layout="constrained")
ax.axhline(50, color="#8a8a8a", linestyle="--", linewidth=1)
ax.plot(values, 100 * risk, "o-", color="#0072b2")
here = values == change.before
ax.plot(values[here], 100 * risk[here], "s", markersize=11, color="#d55e00", label="the patient as measured")
ax.set_ylim(0, 100)
ax.set_xlabel(change.feature)
ax.set_ylabel("probability of a fast course, %")
ax.legend(frameon=False)
plt.show()
