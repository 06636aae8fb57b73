"""Text embeddings: vectors that point in similar directions if texts have a similar meaning, even if their words
are different.

Vectors are cached by text and model within an organization, so that nothing is requested twice, and response times
reveal nothing about other organizations. Vectors that are no longer in the cache are requested again."""

from __future__ import annotations

import hashlib
import struct
import time
from array import array
from collections.abc import Mapping, Sequence
from typing import TypeAlias

from msgspec import Struct

from octavo.core.masking import mask_secrets
from octavo.kit.clock import DAY, now
from octavo.kit.context import Context
from octavo.kit.db.database import Transaction
from octavo.kit.scheduling import deadlines
from octavo.organization.orgs.store import get_organization

from . import store
from .accounting import CHARACTERS, Account
from .provider import ModelFailed, ModelProvider, TokenUsage

BATCH = 64
"""Maximum number of passages in one call."""
_TEXT = 8000
"""Maximum number of characters of a passage to send. The rest of the passage is ignored."""

Vector: TypeAlias = "array[float]"
"""Vector of length 1, in single precision."""


class Embedder(Struct, frozen=True):
    """Embedding model for an organization. ``user_id``: the person for whom it works; None in a job."""

    context: Context
    provider: ModelProvider
    organization_id: str
    user_id: str | None

    @property
    def model(self) -> str:
        return self.provider.model

    def embed(self, purpose: str, texts: Sequence[str]) -> list[Vector]:
        """Return a vector for each passage. Passages must not be empty. Vectors that aren't cached are requested in
        batches and cached immediately, so that a retry after a failure requests only the missing vectors. Raises
        ModelFailed if the provider returns no usable vectors, TooManyRequests if the organization's budget is
        spent, and DeadlineExceeded if there is no time left. Don't call this inside a transaction."""
        sent = [mask_secrets(text[:_TEXT]) for text in texts]
        keys = [self._key(text) for text in sent]
        by_key = dict(zip(keys, sent, strict=True))
        found = self._read_kept(list(by_key))
        missing = [key for key in by_key if key not in found]
        for at in range(0, len(missing), BATCH):
            deadlines.check()
            batch = {key: by_key[key] for key in missing[at : at + BATCH]}
            found |= self._ask(purpose, batch)
        return [decode_vector(found[key]) for key in keys]

    def _key(self, text: str) -> str:
        return hashlib.sha256(f"{self.model}\0{text}".encode("utf-8", "surrogatepass")).hexdigest()

    def _read_kept(self, keys: Sequence[str]) -> dict[str, bytes]:
        found: dict[str, bytes] = {}
        for at in range(0, len(keys), BATCH):
            with self.context.db.read() as tx:
                kept = store.find_vectors(tx, self.organization_id, keys[at : at + BATCH])
            found |= {key: vector for key, (vector, _) in kept.items()}
            stale = sorted(key for key, (_, used_at) in kept.items() if used_at < now() - DAY)
            if stale:
                with self.context.db.write() as tx:
                    store.touch_vectors(tx, self.organization_id, stale)
        return found

    def _ask(self, purpose: str, texts: Mapping[str, str]) -> dict[str, bytes]:
        """Request vectors from the provider, and cache them. Returns the vectors by key."""
        characters = sum(map(len, texts.values()))
        reserved = characters // CHARACTERS + len(texts)
        account = Account(self.context, self.organization_id, self.user_id)
        account.spend(reserved)
        usage = TokenUsage()
        status, error = "abandoned", None
        begun = time.monotonic()
        try:
            vectors = self.provider.embed(list(texts.values()), usage)
            usage.input_tokens = usage.input_tokens or reserved
            status = "ok"
        except Exception as failure:
            status, error = "failed", failure.message if isinstance(failure, ModelFailed) else str(failure)
            raise
        finally:
            account.record(
                purpose=purpose,
                model=self.model,
                request=list(texts.values()),
                answer=None,
                usage=usage,
                cost=usage.input_tokens * self.context.settings.llm_embedding_price,
                status=status,
                error=error,
                duration=round((time.monotonic() - begun) * 1000),
                reserved=reserved,
            )
        found = {key: encode_vector(vector) for key, vector in zip(texts, vectors, strict=True)}
        with self.context.db.write() as tx:
            store.put_vectors(tx, self.organization_id, found)
        return found


def find_embedder(
    context: Context, tx: Transaction, organization_id: str, user_id: str | None
) -> Embedder | None:
    """Return the embedding model for an organization; None if no model is configured, or if the organization has
    turned it off."""
    settings = context.settings
    if not settings.llm_url or not settings.llm_embedding_model:
        return None
    if not get_organization(tx, organization_id).settings.ai:
        return None
    provider = ModelProvider.from_settings(settings, settings.llm_embedding_model)
    return Embedder(context, provider, organization_id, user_id)


def encode_vector(vector: Sequence[float]) -> bytes:
    """Return a vector in its stored format: little-endian 4-byte floats."""
    return struct.pack(f"<{len(vector)}f", *vector)


def decode_vector(stored: bytes) -> Vector:
    return array("f", struct.unpack(f"<{len(stored) // 4}f", stored))
