"""From a source to chunks: loading, normalising, cutting, and the analysis of words."""
