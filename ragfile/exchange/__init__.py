"""Other formats and stores, in and out. A module is imported when its format is met."""
