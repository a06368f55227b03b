"""The fitted weights of evidence mapping in files, so that nothing is solved when a model is loaded."""
