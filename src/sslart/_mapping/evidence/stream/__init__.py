"""Evidence mapping in a stream: when settings are chosen, and what labels change in between."""
