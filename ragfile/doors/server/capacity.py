"""Limits on concurrent work; a request beyond a limit gets status 503 and may retry."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ragfile.doors.server.failures import AGAIN, HttpFailure

if TYPE_CHECKING:
    from asyncio import Future
    from typing import TypeVar

    ResultT = TypeVar("ResultT")


class Room:
    """A limit on concurrent work of one kind; counts only in the event loop's thread."""

    def __init__(self, limit: int, work: str) -> None:
        self.inside, self._limit, self._work = 0, limit, work

    def __enter__(self) -> Room:
        """Raise a failure 503 at the limit; `keep` takes the place."""
        if self.inside >= self._limit:
            reason = f"the limit of {self._limit} concurrent {self._work} is reached; retry later"
            raise HttpFailure(503, reason, AGAIN)
        return self

    def __exit__(self, *_: object) -> None:
        pass

    def keep(self, work: Future[ResultT]) -> Future[ResultT]:
        """Take a place until the work ends, even if its client has left."""
        self.inside += 1
        work.add_done_callback(self._leave)
        return work

    def _leave(self, work: Future[ResultT]) -> None:
        self.inside -= 1
        if not work.cancelled():
            work.exception()  # mark it as retrieved: asyncio would log it again
