"""Declaring operations: what does not fit together is refused before anything is served."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any, get_type_hints

import pytest
from msgspec import Struct

from octavo.kit.http import operation as kit
from octavo.kit.http.operation import (
    PUBLIC,
    TABLE,
    Area,
    Call,
    DeclarationError,
    Deletion,
    Reply,
    Stream,
    Visitor,
    check_table,
    enters,
    list_proofs,
)
from octavo.operations.admin.authorization import OperatorAccess
from octavo.operations.installation import load_packages
from octavo.organization.access.authorization import SignedIn

load_packages()


class Shelf(Struct, frozen=True):
    room_id: str


class Book(Struct, frozen=True):
    name: str


@enters(Shelf, "roomId")
def enter_room(call: Call, needs: object, room_id: str) -> Shelf:
    return Shelf(room_id)


@enters(Shelf, "roomId", "boxId")
def enter_box(call: Call, needs: object, room_id: str, box_id: str) -> Shelf:
    return Shelf(room_id + box_id)


@pytest.fixture
def table() -> Iterator[None]:
    before = dict(TABLE)
    yield
    TABLE.clear()
    TABLE.update(before)


def show_book(call: Call, shelf: Shelf, book_id: str) -> Book:
    """Return one book."""
    return Book(book_id)


@pytest.mark.usefixtures("table")
def test_the_path_determines_the_access_check() -> None:
    operation = Area("books").operation
    operation("bookInRoom", "GET", "/rooms/{roomId}/books/{bookId}", needs=1)(show_book)
    operation("bookInBox", "GET", "/rooms/{roomId}/boxes/{boxId}/books/{bookId}", needs=1)(show_book)
    enters_by = {id: TABLE[id].enter for id in ("bookInRoom", "bookInBox")}
    assert enters_by["bookInRoom"].fn is enter_room
    assert enters_by["bookInBox"].fn is enter_box
    assert TABLE["bookInRoom"].path_parameters == {"book_id": "bookId"}
    check_table()


@pytest.mark.usefixtures("table")
def test_a_path_without_a_permission_check_is_refused() -> None:
    Area("books").operation("bookInHall", "GET", "/halls/{hallId}/books/{bookId}", needs=1)(show_book)
    with pytest.raises(DeclarationError, match="bookInHall: no check registered for Shelf with hallId"):
        check_table()


def _declare(id: str, handler: Callable[..., object], **given: Any) -> kit.Operation:
    method = "DELETE" if id.startswith("delete") else "GET"
    Area("books").operation(id, method, "/books", needs=PUBLIC, **given)(handler)
    return TABLE[id]


@pytest.mark.usefixtures("table")
def test_the_handler_determines_the_response_type() -> None:
    def get_book(call: Call) -> Book:
        raise NotImplementedError

    def ping(call: Call) -> None:
        raise NotImplementedError

    def delete_book(call: Call) -> bool:
        raise NotImplementedError

    def get_book_or_export(call: Call) -> Book | Stream:
        raise NotImplementedError

    def sign_in(call: Call) -> Reply:
        raise NotImplementedError

    def get_either(call: Call) -> Book | Shelf:
        raise NotImplementedError

    declared = [
        _declare("getBook", get_book),
        _declare("ping", ping),
        _declare("deleteBook", delete_book),
        _declare("exportBook", get_book_or_export),
        _declare("signIntoBooks", sign_in, returns=Book),
        _declare("leaveBooks", sign_in),
        _declare("getEither", get_either),
        _declare("getShelf", get_either, returns=Shelf),
    ]
    assert [(operation.returns, operation.status) for operation in declared] == [
        (Book, 200),
        (None, 204),
        (Deletion, 205),
        (Book, 200),
        (Book, 200),
        (None, 204),
        (Book | Shelf, 200),
        (Shelf, 200),
    ]
    for handler, returns in ((get_book, Shelf), (get_book, Book), (ping, Book), (get_either, bool)):
        with pytest.raises(DeclarationError, match="getIt: `returns` contradicts or repeats"):
            _declare("getIt", handler, returns=returns)
    with pytest.raises(DeclarationError, match="deleteIt: `returns` contradicts or repeats"):
        _declare("deleteIt", delete_book, returns=bool)


@pytest.mark.usefixtures("table")
def test_an_id_is_declared_once() -> None:
    declare = Area("books").operation("bookInRoom", "GET", "/rooms/{roomId}/books/{bookId}", needs=1)
    declare(show_book)
    with pytest.raises(DeclarationError, match="bookInRoom: declared twice"):
        declare(show_book)


def test_access_is_checked_once_for_the_same_parameters() -> None:
    with pytest.raises(DeclarationError, match="Shelf: already registered"):
        enters(Shelf, "boxId", "roomId")(enter_box)
    assert kit._ENTERS[Shelf, frozenset({"roomId", "boxId"})].fn is enter_box


def test_every_access_object_names_its_organization() -> None:
    """The proof determines the reach of a session or token of one organization: see ``access.reach``."""
    ours = [proof for proof in list_proofs() if proof.__module__.startswith("octavo.")]
    assert len(ours) > 5
    for proof in ours:
        # An installation's operators have a session, and no organization; visitors have no token of their own.
        visits = get_type_hints(proof).get("visitor") is Visitor
        assert proof in (SignedIn, OperatorAccess) or visits or hasattr(proof, "organization_id"), proof
