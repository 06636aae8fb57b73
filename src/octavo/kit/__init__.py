"""Infrastructure: HTTP, transactions, jobs, and files. It contains no product concepts."""
