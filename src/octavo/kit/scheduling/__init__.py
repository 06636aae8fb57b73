"""Fair shares of threads and processes."""
