"""OpenTelemetry spans of requests, if its API is installed.

The program that runs the server configures their export; without an SDK they are dropped and cost
microseconds.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from opentelemetry.trace import Span
    from starlette.types import Scope

    from ragfile.doors.server.access import Visit


def spans() -> RequestSpans | None:
    """Return the maker of spans, or None if the API is not installed.

    Importing is the only sure test: other packages leave a folder `opentelemetry` without the API.
    """
    try:
        return RequestSpans()
    except ImportError:
        return None


class RequestSpans:
    """Begins and ends the span of each request."""

    def __init__(self) -> None:
        from opentelemetry import propagate, trace

        self._tracer, self._extract = trace.get_tracer("ragfile"), propagate.extract
        self._server, self._failed = trace.SpanKind.SERVER, trace.StatusCode.ERROR

    def begin(self, visit: Visit, scope: Scope) -> Span:
        """Begin the span of a request, in the trace that its headers name."""
        method = scope.get("method", "WEBSOCKET")
        facts = {"http.request.method": method, "ragfile.request_id": visit.request_id}
        return self._tracer.start_span(
            method, context=self._extract(visit.headers), kind=self._server, attributes=facts
        )

    def end(self, span: Span, visit: Visit, scope: Scope) -> None:
        """End a span with the route, the status and the milliseconds of each stage."""
        if span.is_recording():
            span.update_name(f"{scope.get('method', 'WEBSOCKET')} {visit.route}".strip())
            span.set_attribute("http.route", visit.route)
            span.set_attribute("http.response.status_code", visit.status)
            for stage, spent in visit.sink.get("timings", {}).items():
                span.set_attribute(f"ragfile.{stage}_ms", spent)
            if visit.status >= 500:
                span.set_status(self._failed)
        span.end()
