"""Language models, answers, translations, and conversations."""
