"""Operations on integration events, rendering, tasks, and development mode."""

from __future__ import annotations

from octavo.errors import BadRequest, NotFound
from octavo.extensions.deliveries.store import Delivery, DeliveryRecipient, find_delivery, list_deliveries
from octavo.kit.clock import iso
from octavo.kit.context import Context
from octavo.kit.db.database import Transaction
from octavo.kit.db.pagination import Listing, PageQuery, present_slice
from octavo.kit.http.operation import Area, Call, Reply
from octavo.kit.net.fetch import Fetcher, FetchError
from octavo.organization.access.roles import Can
from octavo.organization.access.scopes import SCRIPTS_REACH

from . import blocks, delivering, rendering, store
from .authorization import IntegrationAccess, VisitedIntegration
from .contexts import RenderRequest
from .wire import (
    DevelopmentMode,
    EventLog,
    EventTrace,
    FetchedEvent,
    IntegrationEvent,
    QueueTask,
    RenderOutput,
    RenderQuery,
)

operation = Area("integrations").operation

_INTEGRATION = "/integrations/{integrationName}"


def _present(context: Context, row: Delivery) -> IntegrationEvent:
    found = IntegrationEvent(
        id=row.id,
        integration_id=row.recipient.id,
        created_at=iso(row.created_at),
        payload=delivering.open_event(context, row),
        status="success" if row.status == "success" else "failed",
    )
    if row.installation_id is not None:
        found.installation_id = row.installation_id
    return found


def _recipient(integration: IntegrationAccess) -> DeliveryRecipient:
    return DeliveryRecipient("integration", integration.row.id)


def _organization_shown(integration: IntegrationAccess) -> str | None:
    """Return the organization whose events the caller can see. For a person, this is the integration's own
    organization. The integration itself can see all events, so None is returned for it."""
    return None if integration.by_script else integration.row.organization_id


def _find(tx: Transaction, integration: IntegrationAccess, event_id: str) -> Delivery:
    row = find_delivery(tx, _recipient(integration), event_id)
    whose = _organization_shown(integration)
    if row is None or (whose is not None and row.organization_id != whose):
        raise NotFound(f"There is no event with the ID {event_id!r} for this integration.")
    return row


@operation("listIntegrationEvents", "GET", f"{_INTEGRATION}/events", needs=Can.LIST_INSTALLATIONS)
def list_events(call: Call, integration: IntegrationAccess, query: PageQuery) -> Listing[IntegrationEvent]:
    """List the events of an integration, newest first. Events with the status `failed` may still be
    retried."""
    with call.db.read() as tx:
        found = list_deliveries(
            tx,
            _recipient(integration),
            query.limit,
            query.page,
            organization_id=_organization_shown(integration),
        )
    return present_slice(found, lambda row: _present(call.context, row))


@operation(
    "getIntegrationEvent",
    "GET",
    f"{_INTEGRATION}/events/{{eventId}}",
    needs=Can.LIST_INSTALLATIONS,
    errors=(404,),
)
def get_event(call: Call, integration: IntegrationAccess, event_id: str) -> FetchedEvent:
    """Get an event, with the script's log from the last attempt. Secrets are removed from the log."""
    with call.db.read() as tx:
        row = _find(tx, integration, event_id)
    logs = [EventLog(line.message, line.timestamp, line.level) for line in row.logs]
    if row.error is not None:
        logs.append(EventLog(row.error, logs[-1].timestamp if logs else iso(row.created_at), "error"))
    return FetchedEvent(_present(call.context, row), EventTrace(logs))


@operation(
    "redeliverIntegrationEvent",
    "POST",
    f"{_INTEGRATION}/events/{{eventId}}/redeliver",
    needs=Can.ADMIN,
    errors=(404, 409),
)
def redeliver_event(call: Call, integration: IntegrationAccess, event_id: str) -> None:
    """Redeliver an event that failed permanently, before later events. Returns 409 for any other event."""
    with call.db.write() as tx:
        row = _find(tx, integration, event_id)
        delivering.redeliver(tx, integration.actor, integration.row, row)


@operation(
    "queueIntegrationTask",
    "POST",
    f"{_INTEGRATION}/tasks",
    needs=Can.LIST_INSTALLATIONS,
    errors=(404,),
)
def queue_task(call: Call, integration: IntegrationAccess, body: QueueTask) -> None:
    """Schedule a task. The script receives a `task` event after ``schedule`` seconds."""
    row = integration.row
    with call.db.write() as tx:
        if not store.lock_integration(tx, row.id):
            raise NotFound(f"There is no integration named {row.name!r}.")
        delivering.queue(
            tx,
            row.id,
            None,
            row.organization_id,
            "task",
            {"task": body.task},
            after=int(body.schedule * 1000),
        )


@operation(
    "setIntegrationDevelopmentMode",
    "PUT",
    f"{_INTEGRATION}/dev",
    needs=Can.ADMIN,
    errors=(404,),
    yields=SCRIPTS_REACH,
)
def set_development_mode(call: Call, integration: IntegrationAccess, body: DevelopmentMode) -> None:
    """Send events to a tunnel instead of the published script. The tunnel receives the events from the integration's
    own organization or, with `all`, from all organizations."""
    try:
        Fetcher(call.settings.allow_private_fetch).check_url(body.tunnel_url)
    except FetchError as error:
        raise BadRequest(f"tunnelUrl: {error.message}") from None
    delivering.set_tunnel(call.context, integration.actor, integration.row, body.tunnel_url, body.all)


@operation(
    "disableIntegrationDevelopmentMode",
    "DELETE",
    f"{_INTEGRATION}/dev",
    needs=Can.ADMIN,
    status=205,
)
def disable_development_mode(call: Call, integration: IntegrationAccess) -> None:
    """Turn off development mode. The request also succeeds if it is already off."""
    delivering.set_tunnel(call.context, integration.actor, integration.row, None, False)


@operation(
    "renderIntegrationUIWithPost",
    "POST",
    f"{_INTEGRATION}/render",
    needs=Can.VIEW,
    returns=RenderOutput,
    visitors=True,
    yields=("content:read",),
)
def render_with_post(
    call: Call, integration: IntegrationAccess | VisitedIntegration, body: RenderRequest
) -> Reply:
    """Render a component of an integration.

    The caller must be able to see the space, site, or other object where the component is shown. To render a
    configuration form, the caller must also be able to change the configuration. Site visitors can render the
    blocks on the pages that they can see. The integration sets the `Cache-Control` header, which applies only to
    the caller."""
    if isinstance(integration, VisitedIntegration):
        return blocks.render_for_visitor(call.context, integration, body)
    return rendering.render(call.context, integration, body)


@operation(
    "renderIntegrationUIWithGet",
    "GET",
    f"{_INTEGRATION}/render",
    needs=Can.VIEW,
    returns=RenderOutput,
    yields=("content:read",),
)
def render_with_get(call: Call, integration: IntegrationAccess, query: RenderQuery) -> Reply:
    """Render a component of an integration. The query contains the request as JSON, optionally compressed with
    LZ-string."""
    return rendering.render(call.context, integration, rendering.decode_request(query.request))
