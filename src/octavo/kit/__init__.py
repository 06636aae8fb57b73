"""Infrastructure: HTTP, transactions, jobs, and files. This package contains no product concepts."""
