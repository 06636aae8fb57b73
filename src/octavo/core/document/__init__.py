"""Documents: pages as typed nodes, read from Markdown or JSON and written back.

``read(text)`` and ``write(document)`` are exact inverses for all content that wasn't edited; ``schema.py``
defines the node types and their fields.
"""
