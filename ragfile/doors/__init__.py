"""The doors of the engine: command line, HTTP server, MCP, static sites and browsers."""
