"""Language models: the one way to call them, an organization's instructions to them, and the log of all calls.

No feature requires a model. Callers use ``find_model`` and work without if there is none."""

from . import tables as tables
from .calling import Model, as_data, find_model
from .embedding import Embedder, Vector, decode_vector, encode_vector, find_embedder
from .instructing import read_instructions
from .provider import ModelFailed, ModelMessage

__all__ = [
    "Embedder", "ModelMessage", "Model", "ModelFailed", "Vector", "as_data", "decode_vector", "encode_vector",
    "find_embedder", "find_model", "read_instructions",
]  # fmt: skip
