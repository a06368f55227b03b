"""The explanation of a prediction to which all boxes contribute: `python examples/evidence.py`."""

from sklearn.datasets import load_breast_cancer

from sslart import SSLART

data = load_breast_cancer(as_frame=True)
X = data.data[["mean radius", "mean texture", "mean concavity"]]
y = data.target_names[data.target].astype(object)
y[[i for i in range(len(y)) if i % 10]] = None  # keep one label in ten

# AutoSSLART would choose these
settings = {"families": ["box", "feature"], "bandwidth": 0.125, "ridge": 0.1, "rank_weight": 0.5}
model = SSLART(vigilance=0.8, mapping="evidence", random_state=0, **settings).fit(X, y)
print(model.explain(X.iloc[[8]])[0])
print()
print(model.rules(kind="boxes")[:1].to_text())
