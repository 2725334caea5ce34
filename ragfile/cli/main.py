"""The ragfile command.

Exit codes: 0 done; 1 wrong usage, or a failure outside the file; 2 not a RAGFile, or a damaged one;
3 done, but for sources that could not be read; 130 interrupted.
"""

import collections
import importlib
import json
import os
import sys
from datetime import UTC, datetime

import click

from ragfile import __version__
from ragfile.cli.failing import DAMAGED, INCOMPLETE, WRONG, failed, spelled
from ragfile.cli.progress import Progress
from ragfile.errors import FormatError
from ragfile.ground.offline import VARIABLE as OFFLINE
from ragfile.ground.urls import is_remote


class Doors(click.Group):
    """The commands. Those that need more modules are imported when they are called."""

    LATER = {  # noqa: RUF012
        "ask": ("ragfile.cli.ask", "ask_command"),
        "convert": ("ragfile.cli.convert", "convert_command"),
        **{
            name: ("ragfile.cli.living", name)
            for name in ("add", "compact", "delete", "log", "reindex", "stale", "sync", "vacuum")
        },
        "eval": ("ragfile.cli.evaluate", "eval_command"),
        "compare": ("ragfile.cli.evaluate", "compare"),
        "completion": ("ragfile.cli.completion", "completion_command"),
        "export": ("ragfile.cli.export", "export_command"),
        "keys": ("ragfile.cli.keys", "keys_command"),
        "mcp": ("ragfile.cli.mcp", "mcp_command"),
        "repair": ("ragfile.cli.repair", "repair_command"),
        "serve": ("ragfile.cli.serve", "serve_command"),
        "show": ("ragfile.cli.show", "show_command"),
        "sign": ("ragfile.cli.sign", "sign"),
        "site": ("ragfile.cli.site", "site_command"),
    }

    def list_commands(self, ctx):
        return sorted([*super().list_commands(ctx), *self.LATER])

    def get_command(self, ctx, cmd_name):
        if cmd_name in self.LATER:
            module, attribute = self.LATER[cmd_name]
            return getattr(importlib.import_module(module), attribute)
        return super().get_command(ctx, cmd_name)


def offline_option(command):
    """A switch for the whole process: what a command opens asks RAGFILE_OFFLINE, wherever it is."""
    return click.option(
        "--offline",
        is_flag=True,
        expose_value=False,
        callback=_go_offline,
        help="Open no socket. [env: RAGFILE_OFFLINE]",
    )(command)


def _go_offline(_, __, asked):
    if asked:
        os.environ[OFFLINE] = "1"


UNSIGNED = "SignatureError"  # the kind of a fault that is not damage


# What a number is called where something else was given: "'x' is not a valid integer".
click.IntRange.name, click.FloatRange.name = "integer", "number"


@click.group(cls=Doors, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(__version__, prog_name="ragfile")
@offline_option
def ragfile():
    """One file for retrieval: documents, vectors and BM25."""


def json_option(command):
    return click.option("--json", "as_json", is_flag=True, help="Print JSON.")(command)


def emit(value):
    """JSON on stdout; what JSON does not know becomes a string."""
    click.echo(json.dumps(value, indent=2, ensure_ascii=True, default=str))


def readable(size):
    """A number of bytes for people."""
    for unit in ("B", "KB", "MB", "GB", "TB"):
        if size < 1000 or unit == "TB":
            return f"{size} B" if unit == "B" else f"{size:.1f} {unit}"
        size /= 1000


def counted(count, noun):
    """A number of things for people."""
    return f"{count:,} {noun}{'s' * (count != 1)}"


def printable(text):
    """Text of a file on one line, for a terminal: a control character in it controls nothing."""
    return "".join(c if c.isprintable() else "\ufffd" for c in " ".join(text.split()))


def passages(rf):
    """The open file, if it has any."""
    if not hasattr(rf, "search"):
        raise FormatError(
            f"{rf.info['path']}: a 0.1.0 file has pairs, not passages: `ragfile inspect --pairs NAME` lists them"
        )
    return rf


def selection_options(command):
    """Which files of folders are read."""
    for decorate in (
        click.option(
            "--no-ignore",
            is_flag=True,
            help="Also read what a .gitignore names, and node_modules and the like.",
        ),
        click.option(
            "--exclude",
            multiple=True,
            metavar="GLOB",
            help="Leave files and folders out; can be repeated.",
        ),
        click.option(
            "--include",
            multiple=True,
            metavar="GLOB",
            help="Read only such files of folders; can be repeated.",
        ),
    ):
        command = decorate(command)
    return command


class _Clusters(click.ParamType):
    """yes, no, or a number."""

    name = "clusters"

    def convert(self, value, param, ctx):
        from ragfile.commit.clustering import checked

        try:
            return value == "yes" if value in ("yes", "no") else checked(int(value))
        except ValueError:
            self.fail(f"{value!r} is not yes, no, or a number from 1 to 65536", param, ctx)


def clusters_option(command):
    return click.option(
        "--clusters", type=_Clusters(), metavar="yes|no|N",
        help="Put vectors in clusters, for searches with --effort.",
    )(command)  # fmt: skip


def errors_option(command):
    return click.option(
        "--errors", type=click.Choice(["strict", "replace"]), default="strict", show_default=True,
        help="If text is not UTF-8: report an error, or read U+FFFD for each bad byte.",
    )(command)  # fmt: skip


def encoding_option(command):
    return click.option(
        "--encoding", metavar="NAME",
        help="How to read text that is not UTF-8 and has no byte order mark, such as cp1252.",
    )(command)  # fmt: skip


def executor_option(command):
    """Who asks and builds the files of a dataset."""
    command = click.option(
        "--workers", type=click.IntRange(min=1), help="The number of the executor's workers."
    )(command)
    command = click.option("--ray", "executor", flag_value="ray", help="Use Ray.")(command)
    return click.option(
        "--executor", type=click.Choice(["process", "ray", "dask"]),
        help="Work on a dataset with a pool of processes, Ray or Dask instead of this process.",
    )(command)  # fmt: skip


def generation_option(command):
    return click.option(
        "--generation", default=0, metavar="N", help="Open an older commit; compaction ends this."
    )(command)


def cache_option(command):
    return click.option(
        "--embedding-cache",
        metavar="FOLDER",
        help="Keep the vectors of slow embedders in this folder. [env: RAGFILE_CACHE]",
    )(command)


def url_cache_option(command):
    """What every command that opens URLs takes."""
    command = click.option(
        "--redirects", is_flag=True, expose_value=False, callback=_allow_redirects,
        help="Follow a URL's redirects to other hosts. [env: RAGFILE_REDIRECTS]",
    )(command)  # fmt: skip
    return click.option(
        "--cache", metavar="FOLDER", help="Keep bytes fetched from a URL in this folder."
    )(command)


def _allow_redirects(context, parameter, is_allowed):
    if is_allowed:
        os.environ["RAGFILE_REDIRECTS"] = "1"


@ragfile.command()
@click.argument("file", type=click.Path())
@generation_option
@url_cache_option
@json_option
def info(file, generation, cache, as_json):
    """Show a file at a glance."""
    from ragfile.opening import open as open_file

    with open_file(file, generation=generation, cache=cache) as rf:
        facts = rf.info
    if as_json:
        return emit(facts)
    for name, value in facts.items():
        shown = _fact(name, value)
        if shown not in (None, "", 0, False) or name in ("chunks", "documents"):
            click.echo(f"{name.replace('_', ' '):>16}  {shown}")


def _fact(name, value):
    """A fact of info as people read it."""
    if name == "size":
        return readable(value)
    if name == "created" and value:
        return moment(value)
    if name == "signatures":
        return "; ".join(described(signature) for signature in value)
    if name == "model" and value:
        spec = value.get("spec")
        return value["name"] + (f" ({spec})" if spec and spec != value["name"] else "")
    return ", ".join(value) if isinstance(value, list) else value


def described(signature):
    """A signature, as info tells of it, in one line."""
    key = signature["key_id"][:16]
    who = f"{signature['signer']} ({key})" if signature["signer"] else key
    when = f", {signature['signed']}" if signature["signed"] else ""
    return f"{who}{when}{'' if signature['is_current'] else ', and changed since'}"


def moment(nanoseconds):
    """A time that a file records, in UTC."""
    return datetime.fromtimestamp(nanoseconds / 1e9, UTC).strftime("%Y-%m-%dT%H:%M:%SZ")


def field_weights(given):
    """Weights by name from --field NAME=WEIGHT, or None without one."""
    found = {}
    for one in given:
        name, _, weight = one.rpartition("=")
        if not name or not weight.isascii() or not weight.isdigit():
            raise click.UsageError(
                f"--field is a name and a whole weight, such as headers=3, not {one:.80}"
            )
        found[name] = int(weight)
    return found or None


def condition(where):
    """A filter from --where, or None without one."""
    if where is None:
        return None
    try:
        found = json.loads(where)
    except ValueError as error:
        raise click.UsageError(f"--where is not JSON: {error}") from None
    except RecursionError:
        raise click.UsageError("--where nests too deep") from None
    if not isinstance(found, dict):
        raise click.UsageError(
            f"--where is a JSON object, such as '{{\"year\": 2024}}', not {where:.80}"
        )
    return found


@ragfile.command()
@click.argument("file", type=click.Path())
@click.option(
    "--hex", "hex_at", type=click.IntRange(min=0), metavar="N", help="Show 256 bytes from offset N."
)
@click.option("--vector", "vector_row", type=int, metavar="N", help="Print vector N.")
@click.option("--pairs", "pairs_of", metavar="NAME", help="List the pairs of a section.")
@click.option("--picture", is_flag=True, help="Draw the file as a map of its sections.")
@generation_option
@url_cache_option
@json_option
def inspect(file, hex_at, vector_row, pairs_of, picture, generation, cache, as_json):
    """List the sections of a file with their places and sizes."""
    from ragfile.opening import open as open_file

    with open_file(file, generation=generation, cache=cache) as rf:
        if picture:
            return _show_picture(rf, as_json)
        if hex_at is not None:
            return _show_hex(rf, file, hex_at, as_json)
        if vector_row is not None:
            values = [float(x) for x in rf.vector(vector_row)]
            return emit(values) if as_json else click.echo(" ".join(f"{x:.9g}" for x in values))
        if pairs_of is not None:
            return _show_pairs(rf, pairs_of, as_json)
        return _show_sections(rf, as_json)


def _show_sections(rf, as_json):
    entries, size = rf.entries, rf.info["size"]
    if as_json:
        return emit({"size": size, "sections": entries})
    width = max([len(entry["name"]) for entry in entries], default=4)
    click.echo(
        f"{'section':<{width}}  {'segment':>7}  {'offset':>14}  {'bytes':>14}  {'items':>10}  share"
    )
    for e in entries:
        share = e["size"] / size
        bar = "█" * round(share * 30) or "▏"
        click.echo(
            f"{e['name']:<{width}}  {e.get('segment') or '-':>7}  {e['at']:>14,}  {e['size']:>14,}  {e.get('items', 0):>10,}  "
            f"{share:>6.1%} {bar}"
        )
    return None


def _show_picture(rf, as_json):
    from ragfile.cli.picture import drawn

    if as_json:
        raise click.UsageError("--picture is for people: without it, --json lists the sections")
    for line in drawn(rf.entries, rf.info["size"]):
        click.echo(line)


def _show_hex(rf, file, at, as_json):
    size = rf.info["size"]
    if at >= size:
        raise click.UsageError(f"--hex {at:,} is past the end: {file} has {size:,} bytes")
    if is_remote(file):
        data = rf.raw(at, 256)
    else:
        with open(file, "rb") as raw:
            raw.seek(at)
            data = raw.read(256)
    if as_json:
        return emit({"at": at, "hex": data.hex()})
    for line in range(0, len(data), 16):
        part = data[line : line + 16]
        text = "".join(chr(b) if 32 <= b < 127 else "." for b in part)
        click.echo(f"{at + line:012x}  {part[:8].hex(' '):<23}  {part[8:].hex(' '):<23}  {text}")
    return None


def _show_pairs(rf, name, as_json):
    pairs = (
        (key if isinstance(key, str) else [float(x) for x in key], content)
        for key, content in rf.pairs(name)
    )
    for key, content in pairs:
        if as_json:
            click.echo(json.dumps([key, content]))
        else:
            shown = (
                key
                if isinstance(key, str)
                else "[" + " ".join(f"{x:.4g}" for x in key[:4]) + (" …]" if len(key) > 4 else "]")
            )
            click.echo(f"{shown}\t{content}")


@ragfile.command()
@click.argument("file", type=click.Path())
@click.option("--full", is_flag=True, help="Check every older commit, too.")
@click.option(
    "--key",
    "keys",
    multiple=True,
    type=click.Path(),
    help="A public key that must have signed the file as it is; of several, one.",
)
@click.option(
    "--bundle", type=click.Path(), metavar="FILE",
    help="The signature is this bundle of OpenSSF Model Signing.",
)  # fmt: skip
@json_option
def verify(file, full, keys, bundle, as_json):
    """Check every byte of a file against its checksums."""
    from ragfile.opening import verify as verify_file

    try:
        with Progress().ticking(f"verifying {file}"):
            own_keys = keys if keys and bundle is None else None
            faults, counts = verify_file(file, full=full, keys=own_keys)
            faults += _bundle_faults(file, bundle, keys)
    except FormatError:
        if not as_json:
            _tell_repair(file, _is_repairable(file))
        raise
    damaged = any(fault[0] != UNSIGNED for fault in faults)
    can_be = _is_repairable(file) if damaged else None
    if as_json:
        emit(
            {
                "faults": [
                    dict(zip(("kind", "at", "what", "section"), f, strict=True)) for f in faults
                ],
                **counts,
                "is_repairable": can_be,
            }
        )
    else:
        for kind, at, what, section in faults:
            place = f" (byte {at} of the file{f', section {section}' if section else ''})"
            click.echo(f"{kind}: {what}{'' if kind == UNSIGNED else place}")
        ending = "damaged" if damaged else "whole, but not vouched for" if faults else "good"
        click.echo(
            f"{file}: {ending}; {counted(counts['sections'], 'section')}, {counted(counts['blocks'], 'block')}, "
            f"{counted(counts['commits'], 'commit')} checked"
        )
        _tell_repair(file, can_be)
    sys.exit(DAMAGED if damaged else WRONG if faults else 0)


def _bundle_faults(file, bundle, keys):
    """Why a bundle does not vouch for a file, as a fault; none where it does."""
    from ragfile.errors import SignatureError
    from ragfile.exchange.bundles import verify_bundle

    if bundle is None:
        return []
    if not keys:
        raise click.UsageError("--bundle needs --key: the public key that you trust")
    try:
        verify_bundle(file, bundle, keys)
    except SignatureError as error:
        return [(UNSIGNED, 0, str(error), "")]
    return []


def _is_repairable(file):
    """Whether the parity of a damaged file brings all of it back; None where there is none."""
    from ragfile.commit.repairing import repair

    if is_remote(file) or not os.path.isfile(file):
        return None
    try:
        report = repair(file, dry_run=True)
    except FormatError:
        return None
    return report.is_repairable if report.is_damaged else None


def _tell_repair(file, can_be):
    if can_be:
        click.echo(f"ragfile: `ragfile repair {file}` brings all of it back", err=True)
    elif can_be is not None:
        click.echo(
            f"ragfile: more is damaged than the file's parity brings back: `ragfile repair -n {file}` "
            "says what is lost", err=True,
        )  # fmt: skip


@ragfile.command()
@click.argument("sources", nargs=-1)
@click.option("-o", "--out", required=True, help="The file to write.")
@click.option(
    "--embedder",
    default="default",
    show_default=True,
    help="The model: default, none, st:…, onnx:…, openai:…, ollama:…",
)
@click.option(
    "--chunking",
    default="markdown",
    show_default=True,
    help="The chunk policy, such as markdown or words:200/40.",
)
@click.option("--tag", "tags", multiple=True, help="A tag for every document; can be repeated.")
@click.option(
    "--precision",
    type=click.Choice(["32", "16"]),
    default="32",
    show_default=True,
    help="Bits of each vector component.",
)
@click.option(
    "--for",
    "layout",
    type=click.Choice(["default", "web"]),
    default="default",
    help="web: let browsers, and other readers behind URLs, fetch less.",
)
@click.option(
    "--parity", type=click.IntRange(0, 100), default=0, metavar="N",
    help="Hold N per cent of extra blocks, with which `ragfile repair` brings damaged ones back.",
)  # fmt: skip
@clusters_option
@click.option("--dedupe", is_flag=True, help="Skip files with the same bytes as an earlier one.")
@click.option(
    "--jobs", type=click.IntRange(min=1), default=1, show_default=True,
    help="Processes that read files; the result is the same.",
)  # fmt: skip
@click.option(
    "--no-resume", is_flag=True, help="Do not reuse the vectors of a build that was killed."
)
@click.option(
    "--shards", type=click.IntRange(min=1), help="Build a dataset of so many files in a folder."
)
@click.option(
    "--by",
    type=click.Choice(["range", "hash"]),
    default="range",
    show_default=True,
    help="Which documents share a file of a dataset: neighbours by id, or evenly spread.",
)
@executor_option
@selection_options
@errors_option
@encoding_option
@cache_option
@offline_option
@json_option
def build(
    sources,
    out,
    shards,
    by,
    executor,
    workers,
    embedder,
    chunking,
    tags,
    precision,
    layout,
    parity,
    clusters,
    dedupe,
    jobs,
    no_resume,
    include,
    exclude,
    no_ignore,
    errors,
    encoding,
    embedding_cache,
    as_json,
):
    """Build a file from folders, globs and files. "-" reads a list of them from stdin.

    With --shards, or an output that ends with "/", it is a dataset: a folder, or an s3:// URL.
    """
    from dataclasses import asdict

    listed = [line for line in sys.stdin.read().splitlines() if line] if "-" in sources else []
    named = [source for source in sources if source != "-"] + listed
    if not named:
        raise click.UsageError("name a folder, glob or file")
    bar = Progress()
    build_file, more = _builder(out, layout, parity, clusters, shards, by, executor, workers, jobs)
    report = build_file(
        named, out, **more, embedder=embedder, chunking=chunking, tags=tags,
        precision=16 if precision == "16" else 32, dedupe=dedupe,
        resume=not no_resume, progress=bar.show, errors=errors, encoding=encoding,
        embedding_cache=embedding_cache, include=include, exclude=exclude, ignore=not no_ignore,
    )  # fmt: skip
    bar.close()
    for failure in report.failures:
        click.echo(f"ragfile: {printable(failure.path)}: {spelled(failure.reason)}", err=True)
    if as_json:
        emit(asdict(report))
    else:
        rate = report.chunks / report.seconds if report.seconds else 0
        click.echo(
            f"{out}: {counted(report.documents, 'document')}, "
            f"{counted(report.chunks, 'chunk')}, {readable(report.file_bytes)} "
            f"in {report.seconds:.1f} s ({rate:,.0f} chunks/s)" + _with_errors(report.failures)
        )
        tell_sources(report)
    exit_incomplete(report)


def _builder(out, layout, parity, clusters, shards, by, executor, workers, jobs):
    """(the function that builds a file or a dataset, its own options)."""
    if shards is None and executor is None and not out.endswith("/"):
        from ragfile.commit.building import build

        return build, {"layout": layout, "jobs": jobs, "parity": parity, "clusters": clusters}
    if layout != "default":
        raise click.UsageError(f"--for {layout} goes with a single file")
    if clusters is not None:
        raise click.UsageError("--clusters goes with a single file")
    if jobs > 1:
        raise click.UsageError("--jobs is for one file; a dataset takes --workers")
    from ragfile.sharding.building import build

    more = {} if shards is None else {"shards": shards}
    more |= {"parity": parity} if parity else {}
    return build, {**more, "by": by, "executor": executor, "workers": workers}


def tell_sources(report):
    """What of the sources was not read, and what was read as something else than UTF-8: on stderr."""
    for line in (*told_skipped(report.skipped), *told_encodings(report.encodings)):
        click.echo(f"ragfile: {line}", err=True)


def told_skipped(skipped):
    """Files that were passed over, counted by reason, those without a loader by suffix."""
    reasons = collections.Counter(each.reason for each in skipped)
    unknown = collections.Counter(
        os.path.splitext(each.path)[1].lower() or "no suffix"
        for each in skipped
        if each.reason == "no loader for this suffix"
    )
    for reason, count in reasons.most_common():
        kinds = ", ".join(f"{n} {printable(suffix)}" for suffix, n in unknown.most_common(SHOWN))
        more = f" and {len(unknown) - SHOWN} more suffixes" if len(unknown) > SHOWN else ""
        known = f": {kinds}{more}" if reason == "no loader for this suffix" else ""
        yield f"skipped {count:,} ({reason}){known}"


def told_encodings(encodings):
    for encoding, count in collections.Counter(encodings.values()).most_common():
        path = next(path for path, name in encodings.items() if name == encoding)
        yield f"read {counted(count, 'file')} as {encoding}, such as {printable(path)}"


SHOWN = 12  # suffixes


def exit_incomplete(report):
    """Ends with the exit code that says so, where a source could not be read and the rest was."""
    if report.failures:
        sys.exit(INCOMPLETE)


def _with_errors(failures):
    """The number of files with errors; a file of records can have several."""
    count = len({failure.path for failure in failures})
    return f"; {counted(count, 'file')} with errors" if count else ""


@ragfile.command()
@click.argument("file", type=click.Path())
@click.argument("question")
@click.option(
    "-k", type=click.IntRange(min=1), default=5, show_default=True, help="The number of passages."
)
@click.option(
    "--mode", type=click.Choice(["hybrid", "vector", "bm25", "keyword"]), default="hybrid", show_default=True,
    help="Search by words and vectors, or by one of them. keyword finds ids, sources and keywords.",
)  # fmt: skip
@click.option("--where", help='A filter on metadata as JSON, such as \'{"year": {"$gte": 2020}}\'.')
@click.option(
    "--tag",
    "tags",
    multiple=True,
    help="Only passages with this tag; can be repeated to accept several.",
)
@click.option("--embedder", help="The embedder for the question, if the file does not record one.")
@click.option("--distinct", is_flag=True, help="Skip passages that nearly repeat a better one.")
@click.option("--offset", type=click.IntRange(min=0), default=0, help="Pass over so many places.")
@click.option("--least", type=float, help="Leave out passages that score less.")
@click.option(
    "--group", type=click.IntRange(min=1), metavar="N",
    help="The best documents, with the N best passages of each.",
)  # fmt: skip
@click.option(
    "--diversity", type=click.FloatRange(0, 1), default=0.0,
    help="Prefer passages unlike those before: 0 (not at all) to 1.",
)  # fmt: skip
@click.option(
    "--effort", type=click.FloatRange(0, 1, min_open=True), default=1.0, metavar="SHARE",
    help="Look at this share of the vectors only, the most promising clusters first; 1 is exact.",
)  # fmt: skip
@click.option(
    "--operators", is_flag=True,
    help='Read "phrases", +word, -word, begin* and speling~ in the question.',
)  # fmt: skip
@click.option(
    "--field", "fields", multiple=True, metavar="NAME=WEIGHT",
    help="Weigh a field of the words' index otherwise than the file does, such as headers=3. Repeatable.",
)  # fmt: skip
@click.option(
    "--explain", is_flag=True,
    help="Show what each retriever and each word gave to the score, and where the time went.",
)  # fmt: skip
@cache_option
@generation_option
@url_cache_option
@offline_option
@json_option
def search(
    file,
    question,
    k,
    mode,
    where,
    tags,
    embedder,
    distinct,
    offset,
    least,
    group,
    diversity,
    effort,
    operators,
    fields,
    explain,
    embedding_cache,
    generation,
    cache,
    as_json,
):
    """Find the passages that answer a question."""
    from dataclasses import asdict

    from ragfile.cli.shown_hits import show_hit
    from ragfile.opening import open as open_file

    if not question.strip():
        raise click.UsageError("the question is empty")
    chosen, weights = condition(where), field_weights(fields)
    with open_file(
        file, embedder=embedder, generation=generation, embedding_cache=embedding_cache, cache=cache
    ) as rf:
        hits = passages(rf).search(
            question, k, mode=mode, where=chosen, tags_any=tags, distinct=distinct, offset=offset,
            least=least, group=group or 0, diversity=diversity, operators=operators, fields=weights,
            effort=effort,
        )  # fmt: skip
        reasons = [None] * len(hits)
        if explain and mode != "keyword":
            asked = {"mode": mode, "where": chosen, "tags_any": tags, "fields": weights}
            reasons = [rf.explain(question, hit.id, k, **asked) for hit in hits]
        excerpts = {} if as_json else {hit.id: rf.excerpt(question, hit) for hit in hits}
        lost = getattr(rf, "has_lost_commit", False)
    if as_json:
        explained = {"explanations": [r and r.to_dict() for r in reasons]} if explain else {}
        return emit(
            {
                "hits": [asdict(hit) for hit in hits],
                "degraded": hits.degraded,
                "complete": hits.complete,
                "proven": hits.proven,
                "recall": hits.recall,
                "timings": hits.timings,
                **explained,
            }
        )
    if hits.degraded:
        click.echo(f"ragfile: {spelled(hits.degraded)}", err=True)
    if not hits.proven:
        click.echo(f"ragfile: about {hits.recall:.0%} of the best by vector are here", err=True)
    if lost:
        what = "its newest commit is damaged, and this answers from the one before"
        click.echo(f"ragfile: {file}: {what}: see `ragfile info`", err=True)
    if not hits:
        click.echo("ragfile: nothing found", err=True)
    for place, (hit, reason) in enumerate(zip(hits, reasons, strict=True), offset + 1):
        show_hit(place, hit, excerpts[hit.id], file, explain)
        if reason is not None:
            click.echo(_words_of(reason))
    if explain:
        click.echo("  ".join(f"{stage} {ms:.2f} ms" for stage, ms in hits.timings.items()))


def _words_of(reason):
    """What each word of the question gave to a passage's score."""
    shares = (f"{printable(t.term)} {t.contribution:.3f} ({t.tf}×)" for t in reason.terms if t.tf)
    return f"   words: {', '.join(shares) or 'none'}\n"


def main(arguments=None):
    """Runs the command; errors are one line on stderr, one JSON object there with --json."""
    as_json = "--json" in (sys.argv[1:] if arguments is None else arguments)
    try:
        code = ragfile.main(arguments, prog_name="ragfile", standalone_mode=False)
    except (Exception, KeyboardInterrupt) as error:  # noqa: BLE001 - what is a defect is raised again
        failed(error, as_json)
    sys.exit(code if isinstance(code, int) else 0)
