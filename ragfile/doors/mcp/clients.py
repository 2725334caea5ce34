"""Add this server to the configuration files of MCP clients, and remove it.

    change = added("cursor", "ragfile", command, in_project=False)
    change.diff         the change as a unified diff, to be shown first
    change.write()      apply it

Everything else in such a file is preserved. A file that cannot be parsed is not changed.
"""

from __future__ import annotations

import difflib
import json
import os
import re
import sys
import tomllib
from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple, TypedDict, cast

from ragfile.doors.mcp import json_comments
from ragfile.ground import system

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from typing import Any

CLIENTS = (
    "claude", "claude-desktop", "cursor", "codex", "gemini", "vscode", "windsurf", "zed",
)  # fmt: skip


class ConfigPaths(NamedTuple):
    """A client's own file, the file of a project ("" if there is none), and the key of the servers."""

    own: str
    project: str
    key: str = ""


class Command(TypedDict):
    """The command that starts a server."""

    command: str
    args: list[str]


_JSON = {
    "claude": ConfigPaths("~/.claude.json", ".mcp.json", "mcpServers"),
    "claude-desktop": ConfigPaths("Claude/claude_desktop_config.json", "", "mcpServers"),
    "cursor": ConfigPaths("~/.cursor/mcp.json", ".cursor/mcp.json", "mcpServers"),
    "gemini": ConfigPaths("~/.gemini/settings.json", ".gemini/settings.json", "mcpServers"),
    "vscode": ConfigPaths("Code/User/mcp.json", ".vscode/mcp.json", "servers"),
    "windsurf": ConfigPaths("~/.codeium/windsurf/mcp_config.json", "", "mcpServers"),
    "zed": ConfigPaths("~/.config/zed/settings.json", ".zed/settings.json", "context_servers"),
}
TYPED = ("claude", "vscode")  # clients whose entries name the transport
_CODEX = ConfigPaths("~/.codex/config.toml", ".codex/config.toml")
_BARE = re.compile(r"[A-Za-z0-9_-]+")


@dataclass(frozen=True, slots=True)
class ConfigChange:
    """One file before and after a change; None if it does not exist."""

    path: str
    before: str | None
    after: str | None

    @property
    def diff(self) -> str:
        """The change as a unified diff."""
        old, new = (
            text.splitlines(keepends=True) if text else [] for text in (self.before, self.after)
        )
        return "".join(difflib.unified_diff(old, new, self.path, self.path))

    def write(self) -> None:
        """Apply the change atomically; an existing file keeps its owner and mode."""
        from ragfile.ground.atomic_replace import replacing

        if self.after is None:
            system.remove(self.path)
            return
        os.makedirs(os.path.dirname(self.path), exist_ok=True)
        with replacing(self.path) as file:
            file.write(self.after.encode())


def added(
    client: str, name: str, command: Sequence[str], *, in_project: bool = False
) -> ConfigChange:
    """Return the change that adds a server with this command, or replaces it."""
    entry: Command = {"command": command[0], "args": list(command[1:])}
    path = _path(client, in_project=in_project)
    if client == "codex":
        return _changed(path, lambda text: _with_table(text, name, entry))
    kind = {"type": "stdio"} if client in TYPED else {}

    def put(servers: dict[str, Any]) -> None:
        servers[name] = {**kind, **entry}

    return _changed(path, lambda text: _with_json(text, _JSON[client].key, put))


def removed(client: str, name: str, *, in_project: bool = False) -> ConfigChange:
    """Return the change that removes a server; raise a ValueError if it is missing."""
    path = _path(client, in_project=in_project)
    if client == "codex":
        return _changed(path, lambda text: _without_table(text, name, path))

    def take(servers: dict[str, Any]) -> None:
        if name not in servers:
            raise ValueError(f"{path} has no server {name!r}: nothing to remove")
        del servers[name]

    return _changed(path, lambda text: _with_json(text, _JSON[client].key, take))


def _path(client: str, *, in_project: bool) -> str:
    """Return the path of a client's configuration file."""
    paths = _CODEX if client == "codex" else _JSON[client]
    if in_project and not paths.project:
        raise ValueError(f"{client} has no configuration of a folder: omit --project")
    if in_project:
        return os.path.abspath(paths.project)
    own = paths.own if paths.own.startswith("~") else f"{_settings_folder()}/{paths.own}"
    if client == "codex" and os.environ.get("CODEX_HOME"):
        own = os.path.join(os.environ["CODEX_HOME"], "config.toml")
    return os.path.expanduser(own)


def _settings_folder() -> str:
    """Return the folder in which the system keeps the settings of desktop programs."""
    if sys.platform == "darwin":  # not measured: another system
        return "~/Library/Application Support"
    return os.environ.get("XDG_CONFIG_HOME") or "~/.config"


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
    """A configuration file in an unknown form."""


def _with_json(text: str | None, key: str, change: Callable[[dict[str, Any]], None]) -> str | None:
    """Change the list of servers in a JSON text; return None if nothing is left in it."""
    text = text if text and text.strip() else "{}"
    clear = json_comments.plain(text)
    try:
        parsed: object = json.loads(clear)
    except (ValueError, RecursionError) as error:
        raise _UnreadableError(f"it is not JSON ({error})") from None
    given = cast("dict[str, Any]", parsed) if isinstance(parsed, dict) else {key: None}
    servers: object = given.get(key, {})
    if not isinstance(servers, dict):
        raise _UnreadableError(f"its {key} is not an object")
    known = cast("dict[str, Any]", servers)
    before = dict(known)
    change(known)
    if clear != text:
        return _with_comments(text, key, before, known)
    whole = {name: value for name, value in given.items() if name != key or servers}
    if servers:
        whole[key] = servers
    return json.dumps(whole, indent=2, ensure_ascii=False) + "\n" if whole else None


def _with_comments(
    text: str, key: str, before: Mapping[str, Any], servers: Mapping[str, Any]
) -> str:
    """Change the list of servers in a text with comments; nothing else of it changes."""
    for name in before.keys() - servers.keys():
        text = json_comments.take(text, key, name)
    for name, entry in servers.items():
        if before.get(name) != entry:
            text = json_comments.put(text, key, name, entry)
    return text


def _with_table(text: str | None, name: str, entry: Command) -> str:
    """Append a server's table to a TOML text; remove an older one of the same name."""
    text = text or ""
    if name in _tables(text):
        text = _without_table(text, name, "") or ""
    lines = [f"[mcp_servers.{_key(name)}]", f"command = {_quoted(entry['command'])}"]
    lines.append(f"args = [{', '.join(map(_quoted, entry['args']))}]")
    gap = "" if not text else "\n" if text.endswith("\n") else "\n\n"
    return _sound(text + gap + "\n".join(lines) + "\n", name, is_in=True)


def _without_table(text: str | None, name: str, path: str) -> str | None:
    """Remove a server's table from a TOML text; return None if nothing is left in it."""
    text = text or ""
    if name not in _tables(text):
        raise ValueError(f"{path} has no server {name!r}: nothing to remove")
    header = re.escape(f"mcp_servers.{_key(name)}")
    block = re.compile(
        rf"\n?^\[{header}(?:\.[^\]]*)?\][^\n]*\n(?:(?!\[).*(?:\n|\Z))*", re.MULTILINE
    )
    return _sound(block.sub("", text).lstrip("\n"), name, is_in=False) or None


def _tables(text: str) -> dict[str, Any]:
    """Return the servers in a TOML text."""
    try:
        servers = tomllib.loads(text).get("mcp_servers", {})
    except tomllib.TOMLDecodeError as error:
        raise _UnreadableError(f"it is not TOML ({error})") from None
    if not isinstance(servers, dict):
        raise _UnreadableError("its mcp_servers is not a table")
    return cast("dict[str, Any]", servers)


def _sound(text: str, name: str, is_in: bool) -> str:
    """Return an edited text after a TOML parser has confirmed the edit."""
    if (name in _tables(text)) != is_in:
        raise _UnreadableError("its entry has an unknown form")
    return text


def _key(name: str) -> str:
    """Return a name as a TOML key."""
    return name if _BARE.fullmatch(name) else _quoted(name)


def _quoted(text: str) -> str:
    return json.dumps(text, ensure_ascii=False).replace("\x7f", "\\u007f")
