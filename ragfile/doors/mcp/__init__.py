"""The Model Context Protocol, by hand: a core without I/O, for any door that passes messages."""
