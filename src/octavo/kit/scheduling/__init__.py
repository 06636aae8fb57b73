"""Fair sharing of threads, processes, and other resources."""
