"""Conversations with readers: what was asked, analysed into issues and clusters, and the work that follows from it."""

from . import tables as tables
from .ingesting import record_question
from .jobs import analyse_conversations

__all__ = ["analyse_conversations", "record_question"]
