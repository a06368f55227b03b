"""All rows of a model as samples in memory: what is predicted for each, where they lie, and what to ask about next."""
