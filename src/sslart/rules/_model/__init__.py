"""Rules of the model: few and short, exclusive of each other, chosen by how often they agree with its predictions."""
