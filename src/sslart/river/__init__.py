"""sslart in river: a classifier and a novelty detector that learn one dict at a time.

Needs river, which the extra `river` brings.
"""

from sslart.river._models import NoveltyDetector, StreamClassifier

__all__ = [
    "NoveltyDetector",
    "StreamClassifier",
]
