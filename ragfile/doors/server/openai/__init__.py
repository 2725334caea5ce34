"""OpenAI's interface over collections, for clients that know no other."""
