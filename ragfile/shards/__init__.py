"""Many files as one: the manifest, what a question asks of each shard, and how datasets change."""
