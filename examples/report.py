"""A report that a clinician can read: `python examples/report.py report.html` writes it (needs the extra `report`).

On scikit-learn's breast-cancer data. `--picture image.png` also takes the picture of docs/explanations.md, with
playwright and the Chromium on this machine.
"""

import argparse
import os
import shutil
from pathlib import Path

import numpy as np
from sklearn.datasets import load_breast_cancer
from sklearn.model_selection import train_test_split

import sslart


def take_picture(report, image):
    from playwright.sync_api import sync_playwright

    chromium = os.environ.get("SSLART_CHROMIUM") or shutil.which("chromium") or shutil.which("google-chrome")
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=chromium)
        page = browser.new_page(viewport={"width": 1100, "height": 1000})
        page.goto(report.resolve().as_uri())
        page.locator("select[name=state]").select_option("wrong")
        place = page.locator("#samples").bounding_box()
        page.screenshot(path=image, full_page=True, clip={**place, "height": min(place["height"], 1150)})
        browser.close()


def main():
    parser = argparse.ArgumentParser(description="Write a report on a model of breast cancer.")
    parser.add_argument("path", type=Path)
    parser.add_argument("--picture", type=Path)
    arguments = parser.parse_args()
    data = load_breast_cancer(as_frame=True)
    X, y = data.data, data.target_names[data.target]
    title = "Breast cancer: what the model has learnt, and how well it predicts"
    X_train, X_test, y_train, y_test = train_test_split(X, y, test_size=0.4, stratify=y, random_state=0)
    few = np.where(np.arange(len(y_train)) % 3 == 0, y_train, None)  # keep one label in three
    model = sslart.AutoSSLART(random_state=0).fit(X_train, few)
    print(sslart.report(model, X_test, y_test, arguments.path, title=title, held_out=True))
    if arguments.picture:
        take_picture(arguments.path, arguments.picture)


if __name__ == "__main__":
    main()
