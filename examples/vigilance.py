"""The figures and the table of docs/guide/vigilance.md: `python examples/vigilance.py` (a minute; needs matplotlib)."""

from pathlib import Path

import matplotlib as mpl

mpl.use("Agg")
import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_breast_cancer
from sklearn.model_selection import train_test_split

from sslart import SSLART, AutoSSLART
from sslart.plotting import BoxesDisplay

IMAGES = Path(__file__).parent.parent / "docs" / "images"
PICTURED = [0.5, 0.7, 0.8, 0.9, 0.95]
MEASURED = [0.0, 0.2, 0.4, 0.5, 0.6, 0.7, 0.8, 0.85, 0.9, 0.95, 0.98]
SPLITS = range(10)
MODELS = {"SSLART": (SSLART, "o-", "#0072b2"), "AutoSSLART": (AutoSSLART, "s--", "#d55e00")}

data = load_breast_cancer(as_frame=True)
truth = data.target_names[data.target]


def draw_boxes() -> None:
    """One picture per vigilance, of models that learn two features and one label in ten."""
    X = data.data[["mean radius", "mean concavity"]]
    y = np.where(np.arange(len(truth)) % 10 == 0, truth, None)
    figure, axes = plt.subplots(3, 2, figsize=(8.4, 10), sharex=True, sharey=True, layout="constrained")
    for ax, vigilance in zip(axes.flat, PICTURED, strict=False):
        model = SSLART(vigilance, random_state=0).fit(X, y)
        BoxesDisplay.from_estimator(model, X, y, max_boxes=200, ax=ax)
        ax.set_title(f"ρ = {vigilance}: {model.n_nodes_} boxes, {model.n_labelled_nodes_} labelled", loc="left")
        ax.label_outer()
        handles = ax.get_legend().legend_handles
        ax.get_legend().remove()
    axes[1, 1].xaxis.set_tick_params(labelbottom=True)
    axes[1, 1].set_xlabel(axes[2, 0].get_xlabel())
    axes[2, 1].axis("off")
    axes[2, 1].legend(handles=handles, loc="center", frameon=False)
    figure.savefig(IMAGES / "vigilance_boxes.png", dpi=110)


def measure() -> dict[str, np.ndarray]:
    """Return boxes, boxes with a label, and accuracy by model, vigilance and split: all 30 features, 40 labels."""
    found = {name: np.empty((len(MEASURED), len(SPLITS), 3)) for name in MODELS}
    for split in SPLITS:
        X, X_test, y, y_test = train_test_split(data.data, truth, test_size=0.3, stratify=truth, random_state=split)
        labelled, _ = train_test_split(np.arange(len(y)), train_size=40, stratify=y, random_state=split)
        few = np.where(np.isin(np.arange(len(y)), labelled), y, None)
        for name, (kind, *_) in MODELS.items():
            for row, vigilance in enumerate(MEASURED):
                model = kind(vigilance, random_state=split).fit(X, few)
                found[name][row, split] = model.n_nodes_, model.n_labelled_nodes_, 100 * model.score(X_test, y_test)
    return found


def draw_curves(found: dict[str, np.ndarray]) -> None:
    figure, (left, right) = plt.subplots(1, 2, figsize=(9, 3.8), layout="constrained")
    boxes = found["SSLART"].mean(axis=1)
    left.semilogy(MEASURED, boxes[:, 0], "o-", color="#009e73", label="boxes")
    left.semilogy(MEASURED, boxes[:, 1], "^:", color="#555555", label="boxes with a label")
    left.set_ylabel("boxes, from 398 samples")
    for name, (_, line, colour) in MODELS.items():
        accuracy = found[name][:, :, 2]
        low, high = np.quantile(accuracy, [0.1, 0.9], axis=1)
        right.fill_between(MEASURED, low, high, color=colour, alpha=0.15, linewidth=0)
        right.plot(MEASURED, accuracy.mean(axis=1), line, color=colour, label=name)
    right.set_ylabel("accuracy on test samples, %")
    for ax in (left, right):
        ax.set_xlabel("vigilance ρ")
        ax.grid(alpha=0.3)
        ax.legend()
    figure.savefig(IMAGES / "vigilance_curve.png", dpi=110)


def table(found: dict[str, np.ndarray]) -> str:
    lines = [
        "| ρ | boxes | labelled boxes | accuracy of SSLART, % | accuracy of AutoSSLART, % |",
        "|---|---|---|---|---|",
    ]
    for row, vigilance in enumerate(MEASURED):
        boxes, labelled, one = found["SSLART"][row].mean(axis=0)
        auto = found["AutoSSLART"][row, :, 2].mean()
        lines.append(f"| {vigilance} | {boxes:.0f} | {labelled:.0f} | {one:.1f} | {auto:.1f} |")
    return "\n".join(lines)


if __name__ == "__main__":
    draw_boxes()
    measured = measure()
    draw_curves(measured)
    print(table(measured))
