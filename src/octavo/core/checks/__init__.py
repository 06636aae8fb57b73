"""Check documents for missing, unfinished, or contradictory content, without a language model."""
