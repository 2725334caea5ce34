"""Serve files over HTTP: a native API, OpenAI's API, MCP and a web page."""
