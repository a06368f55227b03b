"""What models promise against what is found on samples they have not seen: `make trust`."""
