"""From a source to chunks: load, normalise and cut, and the analysis of words."""
