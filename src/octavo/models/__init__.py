"""Language models: the one way to ask one, what organizations tell them, and the log of all calls.

Nothing needs a model. Whoever can use one asks ``find_model`` and does without where there is none.
"""

from . import tables as tables
from .calling import Model, as_data, find_model
from .embedding import Embedder, Vector, decode_vector, encode_vector, find_embedder
from .instructing import read_instructions
from .provider import Message, ModelFailed

__all__ = [
    "Embedder", "Message", "Model", "ModelFailed", "Vector", "as_data", "decode_vector", "encode_vector",
    "find_embedder", "find_model", "read_instructions",
]  # fmt: skip
