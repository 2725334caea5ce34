"""Several files that answer as one: each hides documents of those below it."""
