"""Change the keys of an encrypted file: its header alone is written."""

from __future__ import annotations

from ragfile import _core
from ragfile.errors import EncryptionError
from ragfile.ground.encryption_keys import (
    SLOTS_MAX,
    KeyChoice,
    Unlocker,
    key_bytes,
    takes_key,
    unwrapped,
    wrapped,
)
from ragfile.ground.lock_patience import seconds_to_wait
from ragfile.ground.missing_files import explained
from ragfile.ground.urls import local_file
from ragfile.types import StrPath


@takes_key
def rekey(
    path: StrPath, *, add: KeyChoice = None, remove: KeyChoice = None, key: KeyChoice = None,
    wait: float | None = None,
) -> int:  # fmt: skip
    """Add a key to an encrypted file, or remove one, without writing its data again.

        ragfile.build([{"id": "a.md", "text": "Pods live long."}], "kb.ragfile", key=b"1" * 32)
        ragfile.rekey("kb.ragfile", key=b"1" * 32, add=b"2" * 32, remove=b"1" * 32)

    A removed key opens neither the file nor later commits. Somebody who opened the file with it before
    could have kept the data key, or the content: build the file again to change the data key.

    Args:
        path: The file.
        add: A key that opens the file from now on.
        remove: A key that does so no longer.
        key: A key that opens the file. Defaults to RAGFILE_KEY or RAGFILE_KEY_FILE.
        wait: Seconds to wait for other writers. Defaults to `RAGFILE_WAIT`, else 30.

    Returns:
        The number of keys that the file has now.

    Raises:
        EncryptionError: No given key opens the file, or none of its keys is the one to remove.
        ValueError: The file is not encrypted, or would have no key, or more than 30.
        LockedError: Another writer still holds the file.
    """
    path = local_file(path)
    with explained(path):
        file = _core.Map(path)
    if not file.is_encrypted:
        raise ValueError(f"{path} is not encrypted: build it again with key=")
    header = _core.encryption_header(file, path)
    data_key = Unlocker(path)(header).data_key
    slots = header["slots"]
    if remove is not None:
        slots = _without(slots, _needed(remove), path)
    if add is not None:
        slots = [*_others(slots, new := _needed(add)), wrapped(data_key, new)]
    if not 1 <= len(slots) <= SLOTS_MAX:
        what = "would have no key: add one" if not slots else f"has {SLOTS_MAX} keys: remove one"
        raise ValueError(f"{path} {what}")
    if slots != header["slots"]:
        _core.write_key_slots(path, {**header, "slots": slots}, seconds_to_wait(wait))
    return len(slots)


def _needed(key: KeyChoice) -> bytes:
    if (found := key_bytes(key)) is None:
        raise EncryptionError("no key is given, neither here nor in the environment")
    return found


def _others(
    slots: list[tuple[bytes, bytes, bytes]], key: bytes
) -> list[tuple[bytes, bytes, bytes]]:
    """Return the slots of other keys."""
    return [slot for slot in slots if unwrapped(slot, key) is None]


def _without(
    slots: list[tuple[bytes, bytes, bytes]], key: bytes, path: StrPath
) -> list[tuple[bytes, bytes, bytes]]:
    kept = _others(slots, key)
    if len(kept) == len(slots):
        raise EncryptionError(f"{path}: the key to remove is none of its keys")
    return kept
