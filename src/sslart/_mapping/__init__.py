"""From boxes to classes: counts, votes and evidence."""
