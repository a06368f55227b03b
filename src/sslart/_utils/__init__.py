"""No machine learning: checked parameters, types of arrays, threads, files and text."""
