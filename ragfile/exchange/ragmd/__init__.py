""".ragmd: the text twin of a .ragfile."""
