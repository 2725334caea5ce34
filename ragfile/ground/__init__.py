"""Foundations without any knowledge of retrieval: locks, caches, URLs, atomic file replacement."""
