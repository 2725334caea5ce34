"""When a process that reads until it is told to end has to end, and how often it was put off; on every system."""

import os
import threading

try:
    import resource
except ImportError:  # Windows does not tell
    resource = None


def preemptions():
    """How often the system took the processor away from this process; 0 where it does not tell."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_nivcsw if resource else 0


def end_of_input():
    """An event that is set once stdin is closed. Windows cannot select on pipes, so a thread reads."""
    ended = threading.Event()

    def read():
        while os.read(0, 1):
            pass
        ended.set()

    threading.Thread(target=read, daemon=True).start()
    return ended
