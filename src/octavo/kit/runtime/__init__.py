"""Running untrusted scripts, each in a process of its own without any permissions."""
