"""
Why this patient?
=================

A model that predicts a disease needs an explanation. Here :class:`~sslart.AutoSSLART` learns from the Heart Cleveland
data, in which one training patient in three has a diagnosis, and explains its prediction for a patient of the test set.
The data is not part of scikit-learn: :func:`sslart.datasets.load_heart_cleveland` finds or downloads it.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.model_selection import train_test_split

from sslart import AutoSSLART
from sslart.datasets import load_heart_cleveland
from sslart.plotting import EvidenceDisplay

NAMES = {
    "age": "age (years)",
    "cp": "chest pain",
    "trestbps": "blood pressure (mm Hg)",
    "chol": "cholesterol (mg/dl)",
    "thalach": "highest heart rate (1/min)",
    "oldpeak": "ST depression (mm)",
    "ca": "major vessels coloured",
    "thal": "thallium scan",
}
WORDS = {
    "cp": {1: "typical angina", 2: "atypical angina", 3: "non-anginal pain", 4: "none"},
    "thal": {3: "normal", 6: "fixed defect", 7: "reversible defect"},
}
heart = load_heart_cleveland(as_frame=True)
X = heart.data[list(NAMES)].copy()
for column, words in WORDS.items():
    X[column] = X[column].map(words).astype("category")
X = X.rename(columns=NAMES)
y = np.where(np.asarray(heart.target) == "presence", "disease", "no disease")

X_train, X_test, y_train, y_test = train_test_split(X, y, test_size=0.3, stratify=y, random_state=0)
few = np.where(np.arange(len(y_train)) % 3 == 0, y_train, None)
model = AutoSSLART(random_state=0).fit(X_train, few)
print(f"right on {model.score(X_test, y_test):.0%} of {len(y_test)} test patients")

# %%
# The first patient of the test set. The text lists the contributions, in the units of the clinic, and what would change
# the prediction.
patient = X_test.iloc[[0]]
why = model.explain(patient)[0]
print(why)

# %%
# The same as a picture. It starts from an average patient of the training set. Each bar is what one finding adds to the
# score: bars to the right are for the predicted class, bars to the left against it. They add up to the score of this
# patient.
EvidenceDisplay.from_explanation(why)
plt.show()

# %%
# What to see: which findings contribute to the prediction, and which are against it. This is what the model has learnt
# from a few dozen diagnoses, not medicine: a physician may well find a bar that points the wrong way, and that is what
# the picture is for.
#
# The last line of the text gives a small change that leads to the other prediction. It was checked by predicting it.
# Here all else stays, and that finding takes each of its values in the training data.
(change, *others) = why.counterfactual.changes
values = np.sort(X_train[change.feature].dropna().unique())
variants = patient.loc[patient.index.repeat(len(values))].assign(**{change.feature: values})
risk = model.predict_proba(variants)[:, list(model.classes_).index("disease")]

fig, ax = plt.subplots(figsize=(6.0, 3.4), layout="constrained")
ax.axhline(50, color="#8a8a8a", linestyle="--", linewidth=1)
ax.plot(values, 100 * risk, "o-", color="#0072b2")
here = values == change.before
ax.plot(values[here], 100 * risk[here], "s", markersize=11, color="#d55e00", label="the patient as measured")
ax.set_xticks(values)
ax.set_ylim(0, 100)
ax.set_xlabel(change.feature)
ax.set_ylabel("probability of disease, %")
ax.legend(frameon=False)
plt.show()
