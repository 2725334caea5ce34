"""Room for so many things at once; the next is asked to come again."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ragfile.doors.server.failures import AGAIN, HttpFailure

if TYPE_CHECKING:
    from asyncio import Future
    from typing import Any


class Room:
    """Counted in the loop's thread alone."""

    def __init__(self, most: int, what: str):
        self.inside, self._most, self._what = 0, most, what

    def __enter__(self) -> Room:
        """Looks whether there is room; `keep` takes it."""
        if self.inside >= self._most:
            raise HttpFailure(503, f"{self._most} {self._what} are under way; come again", AGAIN)
        return self

    def __exit__(self, *_: object) -> None:
        pass

    def keep(self, work: Future[Any]) -> Future[Any]:
        """A place until the work has ended, also if nobody waits for it any more."""
        self.inside += 1
        work.add_done_callback(self._leave)
        return work

    def _leave(self, work):
        self.inside -= 1
        if not work.cancelled():
            work.exception()  # was told to the client, or nobody is there
