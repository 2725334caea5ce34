"""Files over HTTP: a native interface, OpenAI's, MCP and a web page. Each is a thin door."""
