"""Conversations with readers: grouped into issues and clusters, and the tasks that follow from them."""

from . import tables as tables
from .ingesting import record_question
from .jobs import analyze_conversations

__all__ = ["analyze_conversations", "record_question"]
