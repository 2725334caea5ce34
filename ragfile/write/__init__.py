"""Everything that writes a .ragfile: building, editing, syncing, compacting, and the log."""
