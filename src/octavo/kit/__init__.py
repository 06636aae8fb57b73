"""Infrastructure: HTTP, transactions, jobs, files. Contains no concepts of the product."""
