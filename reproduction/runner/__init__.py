"""Runs the experiments and writes their report."""
