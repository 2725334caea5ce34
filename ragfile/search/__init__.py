"""From a question to passages: retrieving, fusing, reranking, packing."""
