"""HTTP and S3: files behind URLs, fetched range by range, and JSON calls to providers."""
