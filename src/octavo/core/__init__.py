"""Pure functions and types: no I/O, no SQL, no clock, and no randomness."""
