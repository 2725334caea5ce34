"""One open file: its segments, records, filters, and the exact scores of its rows."""
