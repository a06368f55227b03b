"""What the columns of a table are: constants, dates, identifiers, free text, likely leaks, copies."""
