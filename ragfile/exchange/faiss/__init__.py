"""FAISS indexes and the JSON beside them."""
