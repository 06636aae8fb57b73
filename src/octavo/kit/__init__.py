"""Mechanics: HTTP, transactions, jobs, files. Knows no noun of the product."""
