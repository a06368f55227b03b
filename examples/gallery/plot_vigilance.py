"""
Effect of vigilance
===================

Vigilance, ρ, is the parameter of SSL-ART with the largest effect on a model. It sets how similar the samples of one box
must be: a box may grow only as long as its sides, added up and divided by the number of features, stay within 1 − ρ
of the learnt range.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_iris, load_wine
from sklearn.model_selection import train_test_split

from sslart import SSLART
from sslart.plotting import BoxesDisplay

# %%
# Boxes in two dimensions: iris with two features, one label in five. Grey dots are samples without a label, dotted
# boxes have none.
iris = load_iris(as_frame=True)
X = iris.data[["petal length (cm)", "petal width (cm)"]]
names = iris.target_names[iris.target]
few = np.where(np.arange(len(names)) % 5 == 0, names, None)

fig, axes = plt.subplots(1, 3, figsize=(11, 3.8), sharey=True, layout="constrained")
for ax, vigilance in zip(axes, [0.5, 0.75, 0.9], strict=True):
    model = SSLART(vigilance=vigilance, random_state=0).fit(X, few)
    BoxesDisplay.from_estimator(model, X, few, max_boxes=100, ax=ax)
    ax.set_title(f"ρ = {vigilance}: {model.n_nodes_} boxes, {model.n_labelled_nodes_} with a label", loc="left")
    ax.label_outer()
    ax.get_legend().remove()
handles = BoxesDisplay.from_estimator(model, X, few, max_boxes=100).ax_.get_legend().legend_handles
plt.close()  # drawn for its legend only
fig.legend(handles=handles, loc="outside lower center", ncols=4, frameon=False)
plt.show()

# %%
# What to see: a low ρ gives few, large boxes that contain several classes; a high ρ gives many small ones, some of
# which have no label.
#
# The same in numbers, on wine: all features, half of the samples to learn from with 20 labels, the other half to test
# on. Lines are means over ten splits, bands hold the middle eight of them.
X, y = load_wine(return_X_y=True)
SEEDS, VIGILANCES = range(10), np.linspace(0, 0.98, 15)
boxes, accuracy = np.empty((2, len(SEEDS), len(VIGILANCES)))
for row, seed in enumerate(SEEDS):
    X_train, X_test, y_train, y_test = train_test_split(X, y, test_size=0.5, stratify=y, random_state=seed)
    known, _ = train_test_split(np.arange(len(y_train)), train_size=20, stratify=y_train, random_state=seed)
    few = np.full(len(y_train), -1)
    few[known] = y_train[known]
    for column, vigilance in enumerate(VIGILANCES):
        model = SSLART(vigilance=vigilance, random_state=seed).fit(X_train, few)
        boxes[row, column] = model.n_nodes_
        accuracy[row, column] = 100 * model.score(X_test, y_test)

fig, axes = plt.subplots(1, 2, figsize=(8.6, 3.6), layout="constrained")
for ax, values, colour, text in [
    (axes[0], boxes, "#0072b2", f"boxes, from {len(y_train)} samples"),
    (axes[1], accuracy, "#d55e00", "accuracy on test samples, %"),
]:
    ax.fill_between(VIGILANCES, *np.quantile(values, [0.1, 0.9], axis=0), color=colour, alpha=0.2, linewidth=0)
    ax.plot(VIGILANCES, values.mean(axis=0), "o-", color=colour, markersize=4)
    ax.set_xlabel("vigilance ρ")
    ax.set_ylabel(text)
    ax.grid(alpha=0.3)
plt.show()

# %%
# What to see: accuracy rises until boxes no longer contain several classes. Then it is nearly constant, while the
# number of boxes rises ever faster: there a higher ρ gives more rules to read rather than more right predictions.
# :class:`~sslart.AutoSSLART` has a high ρ, and all boxes contribute to its predictions.
for vigilance in VIGILANCES[[0, 5, 10, 14]]:
    column = list(VIGILANCES).index(vigilance)
    print(f"ρ = {vigilance:.2f}: {boxes[:, column].mean():5.1f} boxes, accuracy {accuracy[:, column].mean():.1f} %")
