"""Exports of a model: rules, labels, a script that rebuilds it, and a model card."""
