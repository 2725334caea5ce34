"""The interfaces of other programs over a .ragfile. Each is imported on request, and so is the library it needs."""
