"""A report that a clinician can read: `python examples/report.py report.html` writes it (needs the extra `report`).

On the Heart Cleveland data where SSLART_DATA names a folder with them, on scikit-learn's breast-cancer data otherwise.
`--picture image.png` also takes the picture of docs/explanations.md, with playwright and the Chromium on this machine.
"""

import argparse
import os
import shutil
from pathlib import Path

import numpy as np
from sklearn.datasets import load_breast_cancer
from sklearn.model_selection import train_test_split

import sslart
from reproduction.datasets import load_heart_cleveland

HEART_NAMES = {
    "age": "age (years)",
    "cp": "chest pain",
    "trestbps": "resting blood pressure (mm Hg)",
    "chol": "cholesterol (mg/dl)",
    "fbs": "fasting blood sugar above 120 mg/dl",
    "restecg": "resting ECG",
    "thalach": "highest heart rate (1/min)",
    "exang": "angina on exercise",
    "oldpeak": "ST depression on exercise (mm)",
    "slope": "slope of the ST segment",
    "ca": "major vessels coloured",
    "thal": "thallium scan",
}
HEART_CATEGORIES = {
    "sex": {0: "female", 1: "male"},
    "cp": {1: "typical angina", 2: "atypical angina", 3: "non-anginal pain", 4: "none"},
    "fbs": {0: "no", 1: "yes"},
    "restecg": {0: "normal", 1: "ST-T abnormality", 2: "hypertrophy"},
    "exang": {0: "no", 1: "yes"},
    "slope": {1: "up", 2: "flat", 3: "down"},
    "thal": {3: "normal", 6: "fixed defect", 7: "reversible defect"},
}


def load():
    if os.environ.get("SSLART_DATA"):
        data = load_heart_cleveland(as_frame=True)
        X = data.data.copy()
        for name, words in HEART_CATEGORIES.items():
            X[name] = X[name].map(words).astype("category")
        y = np.where(np.asarray(data.target) == "presence", "heart disease", "no heart disease")
        return X.rename(columns=HEART_NAMES), y, "Heart disease: what the model has learnt, and how well it predicts"
    data = load_breast_cancer(as_frame=True)
    title = "Breast cancer: what the model has learnt, and how well it predicts"
    return data.data, data.target_names[data.target], title


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
    parser = argparse.ArgumentParser(description="Write a report on a model of heart disease or breast cancer.")
    parser.add_argument("path", type=Path)
    parser.add_argument("--picture", type=Path)
    arguments = parser.parse_args()
    X, y, title = load()
    X_train, X_test, y_train, y_test = train_test_split(X, y, test_size=0.4, stratify=y, random_state=0)
    few = np.where(np.arange(len(y_train)) % 3 == 0, y_train, None)  # keep one label in three
    model = sslart.AutoSSLART(random_state=0).fit(X_train, few)
    print(sslart.report(model, X_test, y_test, arguments.path, title=title, held_out=True))
    if arguments.picture:
        take_picture(arguments.path, arguments.picture)


if __name__ == "__main__":
    main()
