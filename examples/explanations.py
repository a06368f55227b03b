"""The rules of a model, and the explanation of a prediction: `python examples/explanations.py`."""

from sklearn.datasets import load_breast_cancer

from sslart import SSLART

data = load_breast_cancer(as_frame=True)
X = data.data[["mean radius", "mean texture", "mean concavity", "worst area"]]
y = data.target_names[data.target].astype(object)
y[[i for i in range(len(y)) if i % 10]] = None  # keep one label in ten

model = SSLART(vigilance=0.8, random_state=0).fit(X, y)
rules = model.rules(kind="boxes")
print(len(rules), "rules; the first two:")
print(rules[:2].to_text())
print()
print(rules[:4].to_markdown())
print()
print(model.explain(X.iloc[[8]])[0])
