"""Pictures of streams."""
