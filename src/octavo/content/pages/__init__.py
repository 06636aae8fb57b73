"""The content API: pages, revisions, files, documents, and links between them."""
