"""
Missing values and categories
=============================

Records of patients have missing values, and not all of their columns are numbers. sslart needs no preparation of
either: a category is one of several, and a missing value is no evidence for or against a box. Here more and more values
of the diabetes data of scikit-learn are removed, in training and test alike. Logistic regression, which needs its
missing values filled, is the comparison.
"""

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
from sklearn.compose import make_column_selector, make_column_transformer
from sklearn.datasets import load_diabetes
from sklearn.impute import SimpleImputer
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import train_test_split
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, StandardScaler

from sslart import AutoSSLART

diabetes = load_diabetes(as_frame=True, scaled=False)
y = np.where(diabetes.target > diabetes.target.median(), "fast", "slow")  # how the disease went on in a year
X = diabetes.data.astype({"sex": "category"})
X["age"] = pd.cut(X["age"], [0, 35, 50, 65, 100], labels=["young", "middle", "older", "old"])
n_categorical = (X.dtypes == "category").sum()
print(f"{len(X)} patients, {n_categorical} categorical and {X.shape[1] - n_categorical} numeric columns")

# %%
# Before logistic regression a pipeline fills the gaps, with means or the most frequent category, and codes the
# categories. AutoSSLART gets the table as it is.
categories = make_column_selector(dtype_include="category")
filled = make_column_transformer(
    (make_pipeline(SimpleImputer(strategy="most_frequent"), OneHotEncoder(handle_unknown="ignore")), categories),
    remainder=make_pipeline(SimpleImputer(), StandardScaler()),
)
models = {
    "AutoSSLART": AutoSSLART(random_state=0),
    "logistic regression, gaps filled": make_pipeline(filled, LogisticRegression(max_iter=1000)),
}

# %%
# One training patient in three has a label; only AutoSSLART makes use of the others. The gaps are the same for both.
SEEDS, SHARES = range(4), [0, 0.3, 0.6]
accuracy = {name: np.empty((len(SEEDS), len(SHARES))) for name in models}
for row, seed in enumerate(SEEDS):
    random = np.random.RandomState(seed)
    drawn = random.uniform(size=X.shape)
    for column, share in enumerate(SHARES):
        gappy = X.mask(drawn < share)
        X_train, X_test, y_train, y_test = train_test_split(gappy, y, test_size=0.4, stratify=y, random_state=seed)
        some = X_train.notna().any(axis=1).to_numpy()  # a sample without a single value has no information
        X_train, y_train = X_train[some], y_train[some]
        known = np.arange(len(y_train)) % 3 == 0
        tested = X_test.notna().any(axis=1).to_numpy()
        for name, model in models.items():
            if name == "AutoSSLART":
                model.fit(X_train, np.where(known, y_train, None))
            else:
                model.fit(X_train[known], y_train[known])
            accuracy[name][row, column] = model.score(X_test[tested], y_test[tested])

looks = {
    "AutoSSLART": ("#0072b2", "o-"),
    "logistic regression, gaps filled": ("#d55e00", "s--"),
}
fig, ax = plt.subplots(figsize=(6.4, 4.2), layout="constrained")
for name, (colour, form) in looks.items():
    mean, spread = 100 * accuracy[name].mean(axis=0), 100 * accuracy[name].std(axis=0)
    ax.fill_between(100 * np.array(SHARES), mean - spread, mean + spread, color=colour, alpha=0.12, linewidth=0)
    ax.plot(100 * np.array(SHARES), mean, form, color=colour, label=name)
ax.set_xticks(100 * np.array(SHARES))
ax.set_xlabel("values removed, % of the table")
ax.set_ylabel("accuracy on test patients, %")
ax.grid(alpha=0.3)
ax.legend()
plt.show()
for name, values in accuracy.items():
    print(f"{name:33s}" + "".join(f"{100 * mean:7.1f}" for mean in values.mean(axis=0)))

# %%
# What to see: the accuracy of both decreases slowly as values are removed. AutoSSLART needs no pipeline before it; with
# more than half of the table removed, logistic regression is ahead, so filling missing values is a good way, too. Bands
# are one standard deviation over the splits: where they overlap, differences mean little.
