"""OpenTelemetry spans of requests, where its API is installed. What becomes of them, the program that
runs the server decides: without an SDK they cost microseconds and go nowhere.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from ragfile.doors.server.access import Visit


def spans() -> RequestSpans | None:
    """What makes spans; None where the API is not installed.

    A package of its family leaves a folder `opentelemetry` behind without the API in it.
    """
    try:
        return RequestSpans()
    except ImportError:
        return None


class RequestSpans:
    """Begins and ends the span of each request."""

    def __init__(self):
        from opentelemetry import propagate, trace

        self._tracer, self._extract = trace.get_tracer("ragfile"), propagate.extract
        self._server, self._failed = trace.SpanKind.SERVER, trace.StatusCode.ERROR

    def begin(self, visit: Visit, scope: Any) -> Any:
        """The span of a request, in the trace that its headers name."""
        method = scope.get("method", "WEBSOCKET")
        said = {"http.request.method": method, "ragfile.request_id": visit.request_id}
        return self._tracer.start_span(
            method, context=self._extract(visit.headers), kind=self._server, attributes=said
        )

    def end(self, span: Any, visit: Visit, scope: Any) -> None:
        """What came of it: the route, the status, the time by stage."""
        if span.is_recording():
            span.update_name(f"{scope.get('method', 'WEBSOCKET')} {visit.route}".strip())
            span.set_attribute("http.route", visit.route)
            span.set_attribute("http.response.status_code", visit.status)
            for stage, spent in visit.sink.get("timings", {}).items():
                span.set_attribute(f"ragfile.{stage}_ms", spent)
            if visit.status >= 500:
                span.set_status(self._failed)
        span.end()
