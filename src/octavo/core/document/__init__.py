"""Documents: pages as typed nodes, read from Markdown or JSON and written back.

``read(text)`` and ``write(document)`` are exact inverses on what was not edited; ``schema.py`` says which node types
there are and what they carry.
"""
