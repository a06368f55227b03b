"""Models that learn while they are read: rows and labels from the journal, predictions by what was last published."""
