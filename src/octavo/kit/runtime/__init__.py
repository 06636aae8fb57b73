"""Run untrusted scripts, each in a separate process without permissions."""
