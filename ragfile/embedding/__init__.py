"""Embedders: the protocol, the model inside the package, and the providers."""

from ragfile.embedding.protocol import DEFAULT_MODEL, Model, StaticEmbedder, embedded, open_embedder

__all__ = ["DEFAULT_MODEL", "Model", "StaticEmbedder", "embedded", "open_embedder"]
