"""How good the answers are: measures, and judged collections."""
