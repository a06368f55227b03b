"""What a limit on the number of boxes costs and saves."""
