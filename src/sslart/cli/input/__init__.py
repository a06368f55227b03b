"""The user's files, cells, columns and lines."""
