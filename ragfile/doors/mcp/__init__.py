"""The Model Context Protocol: a core without I/O, with stdio and HTTP transports around it."""
