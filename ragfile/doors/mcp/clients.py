"""Where MCP clients keep their lists of servers, and how an entry is put in and taken out.

    change = added("cursor", "ragfile", command, in_project=False)
    change.diff         what would change, to be shown first
    change.write()      does it

Everything else in such a file stays as it is. A file that cannot be read for certain is not
changed.
"""

from __future__ import annotations

import difflib
import json
import os
import re
import sys
import tomllib
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

CLIENTS = ("claude", "cursor", "codex", "vscode")
# client -> (its own file, the file of a project, the key of the list)
_JSON = {
    "claude": ("~/.claude.json", ".mcp.json", "mcpServers"),
    "cursor": ("~/.cursor/mcp.json", ".cursor/mcp.json", "mcpServers"),
    "vscode": ("", ".vscode/mcp.json", "servers"),
}
_CODEX = ("~/.codex/config.toml", ".codex/config.toml")
_BARE = re.compile(r"[A-Za-z0-9_-]+")


@dataclass(frozen=True, slots=True)
class ConfigChange:
    """One file before and after; None for a file that is not there."""

    path: str
    before: str | None
    after: str | None

    @property
    def diff(self) -> str:
        """For people."""
        old, new = (
            text.splitlines(keepends=True) if text else [] for text in (self.before, self.after)
        )
        return "".join(difflib.unified_diff(old, new, self.path, self.path))

    def write(self) -> None:
        """Makes it so, whole or not at all. A file that was there keeps its owner and mode."""
        from ragfile.ground.atomic_replace import replacing

        if self.after is None:
            os.unlink(self.path)
            return
        os.makedirs(os.path.dirname(self.path), exist_ok=True)
        with replacing(self.path) as file:
            file.write(self.after.encode())


def added(
    client: str, name: str, command: Sequence[str], *, in_project: bool = False
) -> ConfigChange:
    """The change that puts a server with this command into a client's list."""
    entry = {"command": command[0], "args": list(command[1:])}
    if client == "codex":
        return _changed(_place(client, in_project), lambda text: _with_table(text, name, entry))
    if client != "cursor":
        entry = {"type": "stdio", **entry}
    key = _JSON[client][2]

    def put(servers):
        servers[name] = entry

    return _changed(_place(client, in_project), lambda text: _with_json(text, key, put))


def removed(client: str, name: str, *, in_project: bool = False) -> ConfigChange:
    """The change that takes it out again; ValueError where it is not."""
    path = _place(client, in_project)
    if client == "codex":
        return _changed(path, lambda text: _without_table(text, name, path))
    key = _JSON[client][2]

    def take(servers):
        if name not in servers:
            raise ValueError(f"{path} has no server {name!r}")
        del servers[name]

    return _changed(path, lambda text: _with_json(text, key, take))


def _place(client, in_project):
    """The path of a client's file."""
    own, project = _CODEX if client == "codex" else _JSON[client][:2]
    if in_project:
        return os.path.abspath(project)
    if client == "vscode":
        own = _vscode()
    if client == "codex" and os.environ.get("CODEX_HOME"):
        own = os.path.join(os.environ["CODEX_HOME"], "config.toml")
    return os.path.expanduser(own)


def _vscode():
    if sys.platform == "darwin":  # not measured: another system
        return "~/Library/Application Support/Code/User/mcp.json"
    home = os.environ.get("XDG_CONFIG_HOME") or "~/.config"
    return os.path.join(home, "Code/User/mcp.json")


def _changed(path: str, change: Callable[[str | None], str | None]) -> ConfigChange:
    try:
        with open(path, encoding="utf-8") as file:
            before = file.read()
    except FileNotFoundError:
        before = None
    try:
        return ConfigChange(path, before, change(before))
    except _UnreadableError as error:
        raise ValueError(f"{path} is not changed: {error}; add the server by hand") from None


class _UnreadableError(Exception):
    """A file that is not what it must be."""


# ------------------------------------------------------------------------------------- JSON ---


def _with_json(text, key, change):
    """The text with its list of servers changed; None where nothing is left in it."""
    try:
        whole = json.loads(text) if text and text.strip() else {}
    except ValueError as error:
        raise _UnreadableError(f"it is not plain JSON ({error})") from None
    servers = whole.get(key, {}) if isinstance(whole, dict) else None
    if not isinstance(servers, dict):
        raise _UnreadableError(f"its {key} is not an object")
    change(servers)
    whole = {name: value for name, value in whole.items() if name != key or servers}
    if servers:
        whole[key] = servers
    return json.dumps(whole, indent=2, ensure_ascii=False) + "\n" if whole else None


# ------------------------------------------------------------------------------------- TOML ---


def _with_table(text, name, entry):
    """The text with a table at its end, in the place of one of the same name."""
    text = text or ""
    if name in _tables(text):
        text = _without_table(text, name, "") or ""
    lines = [f"[mcp_servers.{_key(name)}]", f"command = {_quoted(entry['command'])}"]
    lines.append(f"args = [{', '.join(map(_quoted, entry['args']))}]")
    gap = "" if not text else "\n" if text.endswith("\n") else "\n\n"
    return _sound(text + gap + "\n".join(lines) + "\n", name, is_in=True)


def _without_table(text, name, path):
    if name not in _tables(text or ""):
        raise ValueError(f"{path} has no server {name!r}")
    header = re.escape(f"mcp_servers.{_key(name)}")
    block = re.compile(
        rf"\n?^\[{header}(?:\.[^\]]*)?\][^\n]*\n(?:(?!\[).*(?:\n|\Z))*", re.MULTILINE
    )
    return _sound(block.sub("", text).lstrip("\n"), name, is_in=False) or None


def _tables(text):
    try:
        servers = tomllib.loads(text).get("mcp_servers", {})
    except tomllib.TOMLDecodeError as error:
        raise _UnreadableError(f"it is not TOML ({error})") from None
    if not isinstance(servers, dict):
        raise _UnreadableError("its mcp_servers is not a table")
    return servers


def _sound(text, name, is_in):
    """The text, if a reader of TOML finds in it what it should."""
    if (name in _tables(text)) != is_in:
        raise _UnreadableError("the entry is written in a way that is not known here")
    return text


def _key(name):
    return name if _BARE.fullmatch(name) else _quoted(name)


def _quoted(text):
    return json.dumps(text, ensure_ascii=False).replace("\x7f", "\\u007f")
