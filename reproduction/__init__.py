"""The paper's data sets and experiments: `python -m reproduction`, from the root of the repository."""
