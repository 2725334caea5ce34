"""Many files as one: manifests, the tasks of a question, merging of their results, and commits."""
