"""Answers to questions, based on what the asker can see, with their sources."""

from . import tables as tables
from .answering import Answer, AnswerWords
from .asking import Asker, ask
from .material import OfVisitor
from .recommending import recommend
from .wire import MAX_QUESTION

__all__ = ["Answer", "AnswerWords", "Asker", "MAX_QUESTION", "OfVisitor", "ask", "recommend"]
