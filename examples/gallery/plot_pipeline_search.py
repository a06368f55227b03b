"""
Grid search in a pipeline
=========================

The estimators work where scikit-learn's do. Here the digits are first reduced to a few principal components, and a grid
search finds how many of them to keep and which vigilance to use. Four in five training samples have no label.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_digits
from sklearn.decomposition import PCA
from sklearn.model_selection import GridSearchCV, train_test_split
from sklearn.pipeline import Pipeline

from sslart import SSLART
from sslart.model_selection import StratifiedLabelledKFold

X, y = load_digits(return_X_y=True)
X_train, X_test, y_train, y_test = train_test_split(X, y, test_size=0.5, stratify=y, random_state=0)
few = np.where(np.arange(len(y_train)) % 5 == 0, y_train, -1)  # -1: no label

# %%
# Every test fold has its share of the labels of each class, and no unlabelled samples: these are always in training.
# The test samples take no part in the search.
grid = {"reduce__n_components": [5, 10, 20, 30], "classify__vigilance": [0.6, 0.7, 0.8, 0.9, 0.95, 0.98]}
pipeline = Pipeline([("reduce", PCA(random_state=0)), ("classify", SSLART(random_state=0))])
folds = StratifiedLabelledKFold(4, shuffle=True, random_state=0)
search = GridSearchCV(pipeline, grid, cv=folds).fit(X_train, few)
print("chosen:", search.best_params_)
print(f"in the search {search.best_score_:.1%}, on test samples {search.score(X_test, y_test):.1%}")

# %%
results = search.cv_results_
components, vigilances = grid["reduce__n_components"], grid["classify__vigilance"]
shape = len(vigilances), len(components)
mean = 100 * np.reshape(results["mean_test_score"], shape)
fig, ax = plt.subplots(figsize=(6.4, 4.4), layout="constrained")
image = ax.imshow(mean, cmap="cividis", aspect="auto", origin="lower")
for row, column in np.ndindex(shape):
    dark = mean[row, column] < mean.min() + 0.6 * np.ptp(mean)
    ax.text(column, row, f"{mean[row, column]:.0f}", ha="center", va="center", color="white" if dark else "black")
row, column = np.unravel_index(mean.argmax(), shape)
ax.add_patch(plt.Rectangle((column - 0.5, row - 0.5), 1, 1, fill=False, edgecolor="#d55e00", linewidth=3))
ax.set_xticks(range(len(components)), components)
ax.set_yticks(range(len(vigilances)), vigilances)
ax.set_xlabel("principal components")
ax.set_ylabel("vigilance ρ")
fig.colorbar(image, label="accuracy on held-out labels, %")
plt.show()

# %%
# What to see: more components need a higher vigilance. With many of them a box of a given vigilance may be wide in the
# few that matter, and contain several classes. The best cell is one of several that are nearly as good, so its score in
# the search is slightly optimistic; the test score is not.
