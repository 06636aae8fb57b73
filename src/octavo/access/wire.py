"""Users on the wire."""

from __future__ import annotations

from typing import Literal

from msgspec import UNSET, Struct, UnsetType

from ..kit.operation import Call
from .store import UserRow


class UserUrls(Struct):
    location: str


class User(Struct, rename={"display_name": "displayName", "photo_url": "photoURL"}):
    id: str
    display_name: str
    urls: UserUrls
    object: Literal["user"] = "user"
    email: str | UnsetType = UNSET
    photo_url: str | UnsetType = UNSET


def present_user(call: Call, user: UserRow) -> User:
    return User(
        id=user.id,
        display_name=user.display_name,
        urls=UserUrls(call.url(f"/users/{user.id}")),
        email=user.email,
        photo_url=user.photo_url or UNSET,
    )
