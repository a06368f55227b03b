"""Rules of boxes, as the paper has them: one per labelled box, in levels and terms."""
