"""The editor's form of documents: its schema, steps that change a page, and the conversion to and from documents."""
