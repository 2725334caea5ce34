"""Replacing a file: all of it or nothing, one writer at a time.

What is written goes to a temporary file beside the target, which is locked meanwhile, flushed to the disk and then takes the
target's name: a reader sees the whole old file or the whole new one. A temporary file that a killed writer left behind is
taken over by the next.
"""

import contextlib
import errno
import fcntl
import os
import stat

from ragfile.errors import LockedError


def spare(path, is_ours, kind):
    """Refuses to put a new file in the place of one that is something else: a name that was mistyped costs nobody a document.

    is_ours is asked about the first 64 KiB; an empty file, and what is no regular file, has nothing to lose here.
    """
    try:
        if not stat.S_ISREG(os.stat(path).st_mode):
            return
        with open(path, "rb") as file:
            head = file.read(64 << 10)
    except FileNotFoundError:
        return
    if head and not is_ours(head):
        raise FileExistsError(
            errno.EEXIST,
            f"is there and no {kind}: remove it first, or name another file",
            os.fspath(path),
        )


@contextlib.contextmanager
def lock(path):
    """Keeps every other writer of `path` out while a collection is loaded, changed and saved with save(…, held=…).

    LockedError names the process that holds it."""
    held = _Lock(path)
    try:
        yield held
    finally:
        held.close()


class _Lock:
    """The temporary file beside the target is the lock: whoever holds it locked may write it and give it the target's name."""

    def __init__(self, path):
        self.path = os.path.realpath(path)
        folder, name = os.path.split(self.path)
        self.folder = folder or "."
        self.temporary = os.path.join(folder, f".{name}.writing")
        self.descriptor = self._claim()

    def _claim(self):
        """The locked temporary file. One that got its final name while we waited for it is not ours: try again."""
        while True:
            descriptor = os.open(
                self.temporary, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC | os.O_NOFOLLOW, 0o666
            )
            try:
                fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
                if os.path.samestat(os.fstat(descriptor), os.stat(self.temporary)):
                    return descriptor
            except BlockingIOError:
                holder = _holder(descriptor)
                os.close(descriptor)
                raise LockedError(f"{self.path} is being written by {holder}") from None
            except FileNotFoundError:
                pass
            except BaseException:
                os.close(descriptor)
                raise
            os.close(descriptor)

    def write(self, render_to):
        """Fills the file through render_to(write) and makes it the target, which also ends the lock."""
        if self.descriptor is None:
            self.descriptor = self._claim()
        os.ftruncate(self.descriptor, 0)
        with open(self.descriptor, "wb", buffering=0, closefd=False) as file:
            file.seek(0)
            render_to(lambda data: _write_all(file, data))
        with contextlib.suppress(FileNotFoundError):
            os.fchmod(self.descriptor, os.stat(self.path).st_mode & 0o7777)
        os.fsync(self.descriptor)
        os.rename(self.temporary, self.path)
        self._sync_folder()
        done, self.descriptor = self.descriptor, None
        os.close(done)

    def _sync_folder(self):
        folder = os.open(self.folder, os.O_RDONLY)
        try:
            os.fsync(folder)
        finally:
            os.close(folder)

    def close(self):
        if self.descriptor is not None:
            with contextlib.suppress(FileNotFoundError):
                os.unlink(self.temporary)
            os.close(self.descriptor)


def _write_all(file, data):
    view = memoryview(data)
    while len(view):
        view = view[file.write(view) :]


def _holder(descriptor):
    """Who has the lock, as far as the system tells: Linux lists locks by inode, other systems do not say."""
    inode = f":{os.fstat(descriptor).st_ino} "
    with contextlib.suppress(OSError), open("/proc/locks") as locks:
        for line in locks:
            if inode in line:
                return f"process {line.split()[4]}"
    return "another process"
