"""Parts of learning: calls that can be undone, and samples without a value that counts."""
