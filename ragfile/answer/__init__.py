"""From passages to an answer: packing, prompts, models, citations, evidence."""
