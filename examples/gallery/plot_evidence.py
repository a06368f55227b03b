"""
Families of basis functions
===========================

A prediction of :class:`~sslart.AutoSSLART` is a sum over several families of basis functions: boxes over all features,
features by themselves, trends, boxes over a few features, labels propagated between boxes, and randomised trees.
Leave-one-out on the labels decides the weight of each family, which is in ``family_weights_``.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_breast_cancer, load_digits, load_iris, load_wine
from sklearn.model_selection import train_test_split

from sslart import AutoSSLART

SETS = {"iris": load_iris, "wine": load_wine, "breast cancer": load_breast_cancer, "digits": load_digits}
FAMILIES = {
    "box": "box: regions of any shape",
    "relevant": "relevant: features weighted",
    "feature": "feature: a curve for each",
    "linear": "linear: trends",
    "subspace": "subspace: few features together",
    "propagated": "propagated: clusters",
    "trees": "trees: thresholds",
}

# %%
# Half of each data set is to learn from, with 50 labels, the other half to test on. The weights come from the labels
# alone.
weights, left_out, tested = {}, {}, {}
for name, load in SETS.items():
    X, y = load(return_X_y=True)
    X_train, X_test, y_train, y_test = train_test_split(X, y, test_size=0.5, stratify=y, random_state=0)
    known, _ = train_test_split(np.arange(len(y_train)), train_size=50, stratify=y_train, random_state=0)
    few = np.full(len(y_train), -1)  # -1: no label
    few[known] = y_train[known]
    model = AutoSSLART(random_state=0).fit(X_train, few)
    weights[name] = model.family_weights_
    left_out[name], tested[name] = model.quality_.accuracy.value, model.score(X_test, y_test)

# %%
colours = ["#0072b2", "#56b4e9", "#009e73", "#d55e00", "#cc79a7", "#e69f00", "#999999"]
hatches = ["", "///", "", "\\\\\\", "", "...", "xxx"]
fig, ax = plt.subplots(figsize=(8.4, 3.4), layout="constrained")
start = np.zeros(len(SETS))
for (family, text), colour, hatch in zip(FAMILIES.items(), colours, hatches, strict=True):
    shares = 100 * np.array([weights[name].get(family, 0) for name in SETS])
    bars = ax.barh(list(SETS), shares, left=start, color=colour, hatch=hatch, edgecolor="white", label=text)
    named = ax.bar_label(bars, [family if share > 12 else "" for share in shares], label_type="center", fontsize=8)
    plt.setp([one for one in named if one.get_text()], bbox={"facecolor": "white", "edgecolor": "none", "pad": 1.5})
    start += shares
ax.invert_yaxis()
ax.set_xlim(0, 100)
ax.set_xlabel("weight of the family, %")
ax.spines[["top", "right"]].set_visible(False)
ax.legend(loc="upper left", bbox_to_anchor=(1.01, 1.0), frameon=False, fontsize=8)
plt.show()

# %%
# What to see: each data set has its own mixture. Flowers and tumours are distinguished by regions and by single
# measurements. Images of digits are clusters: labels propagated between boxes have most of the weight. No family is
# best everywhere, which is why all are tried.
#
# ``quality_.accuracy`` needs no test samples: it is the share of the labels that the others alone predict, with weights
# chosen without them. With so few labels it is rough.
for name in SETS:
    print(f"{name:14s} left-out labels {left_out[name]:6.1%}, test samples {tested[name]:6.1%}")
