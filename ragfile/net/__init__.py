"""HTTP and buckets: files behind URLs, fetched range by range, and JSON calls to providers."""
