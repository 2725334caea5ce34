"""OpenAI's API over collections, for existing clients."""
