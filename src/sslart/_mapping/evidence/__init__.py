"""Evidence mapping: boxes, features and the graph of boxes as basis functions of a ridge regression."""
