"""Language models, answers, translations, conversations, and agents."""
