"""Infrastructure: HTTP, transactions, jobs, and files. It contains no concepts of the product."""
