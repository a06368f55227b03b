"""How numeric features are scaled: tables of ranks, which features have one, and distances on scales."""
