"""Set up the first administrator's account in the browser."""

from __future__ import annotations

from octavo.errors import BadRequest, Conflict
from octavo.kit.db.database import Transaction
from octavo.organization.access.accounts import (
    UserRow,
    get_user_for_update,
    is_first_administrator,
    lacks_email,
    set_email,
    set_password_hash,
    update_user,
)
from octavo.settings import Settings

from .passwords import find_password


def email_after_setup(tx: Transaction, settings: Settings, user: UserRow, wanted: str | None) -> str:
    """Return the email address that the account will have after its setup.

    ``wanted``: the requested address; None if the settings specify the address. Raises Conflict if the account doesn't
    belong to the first administrator or is already set up.
    """
    if lacks_email(tx, settings, user):
        if wanted is None:
            raise BadRequest("email: is required")
        return wanted.strip().lower()
    if not is_first_administrator(tx, user.id) or find_password(tx, user.id) is not None:
        raise Conflict(
            "This account is already set up. To change your name or password, go to your account settings."
        )
    if wanted is not None and wanted.strip().lower() != user.email:
        raise BadRequest(
            "email: must be the email address in the server settings. To use another one, change OCTAVO_ADMIN_EMAIL."
        )
    return user.email


def set_up_account(
    tx: Transaction, settings: Settings, user_id: str, *, name: str, email: str | None, password_hash: str
) -> UserRow:
    """Set the name, email address, and password of the first administrator, and return the updated account.

    ``password_hash``: the result of ``hash_password``. Raises the errors of ``email_after_setup``, and
    Conflict if another account has the address.
    """
    user = get_user_for_update(tx, user_id)
    set_email(tx, user_id, email_after_setup(tx, settings, user, email))
    set_password_hash(tx, user_id, password_hash)
    update_user(tx, user_id, display_name=name.strip(), photo_url=None)
    return get_user_for_update(tx, user_id)
