"""Tables as files: predictions, and tables of the user with more columns or labels."""
