"""Small things that everything stands on and that know nothing of retrieval: locks, caches, URLs, replacing a file."""
