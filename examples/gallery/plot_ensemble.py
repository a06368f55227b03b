"""
Votes of an ensemble
====================

What one SSL-ART learns depends on the order of the samples. :class:`~sslart.WESSLART` has several members, each of
which learnt the same samples in another order, and weights each vote for a class by the recall of the member for that
class.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_digits
from sklearn.model_selection import train_test_split

from sslart import WESSLART
from sslart.plotting import VotesDisplay

X, y = load_digits(return_X_y=True)


def split(seed):
    X_train, X_test, y_train, y_test = train_test_split(X, y, test_size=0.5, stratify=y, random_state=seed)
    known, _ = train_test_split(np.arange(len(y_train)), train_size=100, stratify=y_train, random_state=seed)
    few = np.full(len(y_train), -1)  # -1: no label
    few[known] = y_train[known]
    return X_train, few, X_test, y_test


# %%
# Half of the digits to learn from, with 100 labels. Vigilance is low, so that each member has few and large boxes and
# makes mistakes of its own. Then the test sample that divides the members most.
X_train, few, X_test, y_test = split(0)
model = WESSLART(7, vigilance=0.7, random_state=0).fit(X_train, few)
hardest = model.predict_proba(X_test).max(axis=1).argmin()

fig, axes = plt.subplots(1, 2, figsize=(8.4, 3.6), width_ratios=[1, 2.4], layout="constrained")
axes[0].imshow(X_test[hardest].reshape(8, 8), cmap="gray_r")
axes[0].set_axis_off()
axes[0].set_title(f"in truth {y_test[hardest]}", fontsize=10)
VotesDisplay.from_estimator(model, X_test[hardest], ax=axes[1])
plt.show()

# %%
# What to see: each block is one member, numbered, and as wide as the weight of its vote. A member with a high recall
# for a class has more weight there.
#
# Over four splits: one member on the average, the weighted vote, and the vote in which all count the same.
SIZES, SEEDS = [1, 3, 7, 15], range(4)
accuracy = {name: np.empty((len(SEEDS), len(SIZES))) for name in ["single member", "weighted", "majority"]}
for row, seed in enumerate(SEEDS):
    X_train, few, X_test, y_test = split(seed)
    for column, size in enumerate(SIZES):
        model = WESSLART(size, vigilance=0.7, random_state=seed).fit(X_train, few)
        members = [member.score(X_test, y_test) for member in model.estimators_]
        accuracy["single member"][row, column] = np.mean(members)
        for voting in ["weighted", "majority"]:
            accuracy[voting][row, column] = model.set_params(voting=voting).score(X_test, y_test)

looks = {"weighted": ("#0072b2", "o-"), "majority": ("#d55e00", "s--"), "single member": ("#8a8a8a", "^:")}
fig, ax = plt.subplots(figsize=(6.4, 4.0), layout="constrained")
for name, (colour, form) in looks.items():
    ax.plot(SIZES, 100 * accuracy[name].mean(axis=0), form, color=colour, label=name)
ax.set_xticks(SIZES)
ax.set_xlabel("members")
ax.set_ylabel("accuracy on test samples, %")
ax.grid(alpha=0.3)
ax.legend()
plt.show()
for name, values in accuracy.items():
    print(f"{name:14s}" + "".join(f"{100 * mean:7.1f}" for mean in values.mean(axis=0)))

# %%
# What to see: the vote of several members is more accurate than one member alone. Weights measured on ten labels per
# class are rough, and here they do no better than equal weights. At the default vigilance members are better and more
# alike, and an ensemble adds less.
