"""Answers to questions, based on what the asker can see, with their sources."""

from . import tables as tables
from .answering import AnswerWords, ComposedAnswer
from .asking import QuestionAsker, ask
from .material import VisitorMaterial
from .recommending import recommend
from .wire import MAX_QUESTION

__all__ = [
    "ComposedAnswer",
    "AnswerWords",
    "QuestionAsker",
    "MAX_QUESTION",
    "VisitorMaterial",
    "ask",
    "recommend",
]
