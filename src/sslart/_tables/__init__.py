"""The user's tables: files, cells, columns, and predictions of their rows."""
