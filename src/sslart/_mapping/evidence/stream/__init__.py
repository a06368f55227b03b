"""Evidence mapping on streams: the schedule of selections, and the updates in between."""
