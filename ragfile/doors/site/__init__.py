"""A file and its search page as a folder for any static host."""
