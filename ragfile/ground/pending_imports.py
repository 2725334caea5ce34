"""Forks wait for imports that ragfile began.

Modules are imported on first use, and a thread holds a lock of Python for each module that it imports. A child that is forked
meanwhile has these locks and not the thread, so its own first use would wait forever. The hook that `import ragfile` registers
calls `wait` before each fork; it reads the stacks of the other threads, so an import costs nothing more than before.
"""

import sys
import threading
import time
from collections.abc import Callable
from types import FrameType

PATIENCE = 10.0  # seconds: an import may itself wait for the thread that forks
PAUSE = 0.0005
IMPORT_SYSTEM = "<frozen importlib._bootstrap>"
# Modules that take a lock before a fork and release it after. If one is loaded while a fork waits, Python runs
# its second hook without its first.
LOCKS = {"logging": "_lock", "concurrent.futures.thread": "_global_shutdown_lock"}


def wait() -> None:
    """Return when no other thread is in an import that ragfile began, or after PATIENCE."""
    if not _others():
        return
    absent = [name for name in LOCKS if _taker(name) is None]
    end, pause = time.monotonic() + PATIENCE, 0.0
    while time.monotonic() < end:
        time.sleep(
            pause
        )  # even 0 begins a turn: no other thread runs between the look and the fork
        if not any(map(_is_importing, _others())):
            break
        pause = PAUSE
    for name in absent:
        acquire = _taker(name)
        if acquire is not None:
            acquire()


def _taker(module: str) -> Callable[[], bool] | None:
    """Return the method that takes a module's lock, or None before the module is loaded."""
    lock = getattr(sys.modules.get(module), LOCKS[module], None)
    return getattr(lock, "acquire", None)


def _others() -> list[FrameType]:
    """Return the innermost frames of the other threads."""
    frames = sys._current_frames()
    frames.pop(threading.get_ident(), None)
    return list(frames.values())


def _is_importing(frame: FrameType | None) -> bool:
    """Whether a thread loads a module of ragfile, or another one for a function of ragfile."""
    is_import = False
    while frame is not None:
        code = frame.f_code
        if code.co_filename == IMPORT_SYSTEM:
            if code.co_name == "_find_and_load" and _is_ours(frame.f_locals.get("name")):
                return True
            is_import = True
        elif _is_ours(frame.f_globals.get("__name__")) and (
            is_import or code.co_name == "<module>"
        ):
            return True
        frame = frame.f_back
    return False


def _is_ours(module: object) -> bool:
    return isinstance(module, str) and module.partition(".")[0] == "ragfile"
