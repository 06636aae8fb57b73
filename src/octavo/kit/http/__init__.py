"""HTTP: the ASGI application, the table of operations, and its dispatcher."""
