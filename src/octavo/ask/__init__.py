"""Answers to questions, out of what the asker may see, with where each is from."""

from . import tables as tables
from .answering import Answer, AnswerWords
from .asking import Asker, ask
from .material import OfVisitor
from .recommending import recommend
from .wire import MAX_QUESTION

__all__ = ["Answer", "AnswerWords", "Asker", "MAX_QUESTION", "OfVisitor", "ask", "recommend"]
