"""Chat models behind one protocol, as embedders are."""
