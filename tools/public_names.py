"""List every public name: Python, the command line, HTTP, MCP and JavaScript.

    python tools/public_names.py              print the names that this tree has
    python tools/public_names.py --write      write them to tests/house/public_names.txt
    python tools/public_names.py --check      exit unless the file has exactly these names

A release keeps every name of the release before it; docs/reference/compatibility.md has the rules.
"""

import argparse
import importlib
import inspect
import json
import re
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
LIST = ROOT / "tests" / "house" / "public_names.txt"
MODULES = ("ragfile.canonical", "ragfile.dataset", "ragfile.errors", "ragfile.memory", "ragfile.qa",
           "ragfile.types")  # fmt: skip


def python_names():
    """Yield `ragfile.Hit`, `ragfile.Hit.text` and `ragfile.build(dedupe)`."""
    import ragfile

    for name in ragfile.__all__:
        yield from members(f"ragfile.{name}", getattr(ragfile, name))
    for path in MODULES:
        module = importlib.import_module(path)
        for name in getattr(module, "__all__", sorted(vars(module))):
            found = getattr(module, name)
            if not name.startswith("_") and getattr(found, "__module__", None) == path:
                yield from members(f"{path}.{name}", found)


def members(path, found):
    """Yield a name with its parameters or, for a class, its members."""
    yield path
    if inspect.isclass(found):
        for name, member in inspect.getmembers(found):
            if not name.startswith("_") and not belongs_to_python(found, name):
                yield f"{path}.{name}"
                yield from parameters(f"{path}.{name}", member)
        yield from parameters(path, found)
    elif callable(found):
        yield from parameters(path, found)


def belongs_to_python(found, name):
    """Whether a member comes from a class of Python itself, such as list or Exception."""
    home = next((base for base in found.__mro__ if name in vars(base)), None)
    return home is not None and not home.__module__.startswith("ragfile")


def parameters(path, call):
    """Yield the parameters of a call that callers can name."""
    try:
        signature = inspect.signature(call)
    except (TypeError, ValueError):
        return
    for name, parameter in signature.parameters.items():
        named = parameter.kind in (parameter.POSITIONAL_OR_KEYWORD, parameter.KEYWORD_ONLY)
        if named and not name.startswith("_") and name not in ("self", "cls"):
            yield f"{path}({name})"


def command_names():
    """Yield `ragfile build` and `ragfile build --dedupe`."""
    import click

    from ragfile.doors.cli.main import ragfile

    yield from command_tree("ragfile", ragfile, click.Context(ragfile))


def command_tree(path, command, context):
    """Yield a command with its options, and the commands below it."""
    yield path
    for option in command.params:
        yield from (f"{path} {word}" for word in option.opts if word.startswith("--"))
    for name in getattr(command, "list_commands", lambda _: ())(context):
        yield from command_tree(f"{path} {name}", command.get_command(context, name), context)


def http_names():
    """Yield `POST /v1/{c}/search` and the members of each body."""
    from ragfile.doors.server.endpoints import operations
    from ragfile.doors.server.openapi import describe
    from ragfile.doors.server.settings import Settings

    for path, methods in describe(operations(Settings((), can_write=True)))["paths"].items():
        for method, described in methods.items():
            called = f"{method.upper()} {path}"
            yield called
            yield from (
                f"{called} ?{one['name']}"
                for one in described["parameters"]
                if one["in"] == "query"
            )
            for content in described.get("requestBody", {}).get("content", {}).values():
                yield from (f"{called} {name}" for name in content["schema"].get("properties", ()))  # fmt: skip


def mcp_names(options=()):
    """Yield `mcp search` and `mcp search query` as a client lists them."""
    import tempfile

    import ragfile

    with tempfile.TemporaryDirectory() as folder:
        path = f"{folder}/kb.ragfile"
        ragfile.build([ragfile.Document("a", "A passage.")], path, embedder=None)
        asked = [
            {"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": {
                "protocolVersion": "2025-06-18", "capabilities": {},
                "clientInfo": {"name": "names", "version": "1"}}},
            {"jsonrpc": "2.0", "method": "notifications/initialized"},
            {"jsonrpc": "2.0", "id": 2, "method": "tools/list"},
        ]  # fmt: skip
        command = [sys.executable, "-m", "ragfile", "mcp", path, "--write", *options]
        lines = "".join(json.dumps(message) + "\n" for message in asked)
        done = subprocess.run(command, input=lines, capture_output=True, text=True, check=True)
    for tool in json.loads(done.stdout.splitlines()[-1])["result"]["tools"]:
        yield f"mcp {tool['name']}"
        yield from (f"mcp {tool['name']} {name}" for name in tool["inputSchema"]["properties"])


def javascript_names():
    """Yield the members of each class and interface of the npm package's types."""
    for path in sorted((ROOT / "ragfile/doors/browser").glob("*.d.ts")):
        kind = None
        for line in path.read_text().splitlines():
            if found := re.match(
                r"export (?:declare )?(?:class|interface|type|function|const) (\w+)", line
            ):
                kind = f"{path.name.removesuffix('.d.ts')}.{found[1]}"
                yield f"js {kind}"
            elif kind and (found := re.match(r"  (?:readonly )?(\w+)\??[(:]", line)):
                yield f"js {kind}.{found[1]}"
            elif line.startswith("}"):
                kind = None


def names():
    """Return every public name, sorted."""
    found = {*python_names(), *command_names(), *http_names(), *mcp_names(), *javascript_names()}
    return sorted(found)


def main():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--write", action="store_true")
    parser.add_argument("--check", action="store_true")
    options = parser.parse_args()
    found = "\n".join(names()) + "\n"
    if options.write:
        LIST.write_text(found)
    elif not options.check:
        print(found, end="")
    elif found != LIST.read_text():
        sys.exit(
            f"{LIST.name} differs: read the difference, then python tools/public_names.py --write"
        )


if __name__ == "__main__":
    main()
