"""Files behind URLs: ranges are fetched, checked and kept as they are needed."""
