"""Studies of a model: columns, trust, changes since the last fit, and exports."""
