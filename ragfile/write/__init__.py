"""Write .ragfiles: build, edit, sync, compact, repair and sign, and read the log."""
