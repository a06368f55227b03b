"""All rows of a model as samples in memory: predictions, positions on the map, and questions to ask."""
