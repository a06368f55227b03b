"""Roles of columns: constants, dates, identifiers, free text, likely leaks, and copies."""
