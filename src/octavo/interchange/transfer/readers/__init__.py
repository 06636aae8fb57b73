"""Readers: what a source is, and what of it becomes pages. Every kind ends in one form (``form.Layout``), and from there
in one source of our own Markdown.
"""
