"""The content API: pages, revisions, files, documents, and the links between them."""
