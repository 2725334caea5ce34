"""Every option of a question can be given at every door, or the door is named with the reason why not.

Each door is asked by its own entry, and must give the ids that rf.search gives with the same option.
"""

import asyncio
import inspect
import json
import random
import re
import runpy
import typing

import pytest
from places import ROOT

import ragfile
from ragfile import dataset
from ragfile.adapters.passages import Passage, PassageStore
from ragfile.answer.ask_options import ASK, AskOptions
from ragfile.doors.cli.main import main
from ragfile.doors.mcp.files import Files
from ragfile.doors.mcp.tools import Tools
from ragfile.ground.option_table import Option, OptionTable
from ragfile.options import (
    BATCH,
    EXPLAIN,
    SEARCH,
    BatchOptions,
    ExplainOptions,
    K,
    RetrievalOptions,
    SearchOptions,
)
from ragfile.search.question import Question

QUESTION, HITS = "restart the -queue worker pods", 6
WEB = ROOT / "ragfile/doors/browser"
TOOL = ROOT / "tools/option_tables.py"
# A value of each option, as JSON has it, that changes the answer to QUESTION.
VALUES = {
    "where": {"year": {"$gte": 2018}},
    "vector": [1.0] + [0.0] * 255,
    "mode": "bm25",
    "tags_any": ["t1"],
    "tags_all": ["t0", "even"],
    "pool": 1,
    "fusion": ["rrf", {"rrf_k": 5}],
    "hops": 0,
    "fields": {"text": 1},
    "drop_repeats": True,
    "offset": 2,
    "min_score": 1.2,
    "diversity": 0.9,
    "boost": {"field": "year", "weight": 3.0, "reference": 2001, "half_life": 1},
    "query_syntax": True,
    "effort": 0.2,
    "threads": 2,
    "request_id": "r",
    "similar_to": "d3#0",
    "rewrites": ["a node of a cluster"],
    "sparse": {"fox": 1.5},
    "group": 1,
    "cache": False,
    "rerank": "default",
}
# Options that leave this answer as it is.
SAME = {"fields", "effort", "threads", "request_id", "cache", "rerank", "sparse"}
OF_ASK = {
    "model": None, "k": 2, "budget": 100, "history": [{"role": "user", "content": "keys"}],
    "system": ["Be brief."], "temperature": 0.5, "max_tokens": 9, "stop": ["END"], "seed": 1,
    "count": len, "offline": True, "allow_ungrounded": True,
}  # fmt: skip
SEARCHES = sorted(SEARCH.options)
DOORS = {"rest", "cli", "browser"}


def offered(door, table=SEARCH):
    return [name for name, option in table.options.items() if door not in option.absent]


WORDS = [
    "rotate",
    "keys",
    "pods",
    "node",
    "cluster",
    "nightly",
    "backup",
    "job",
    "restart",
    "secret",
    "expiry",
    "volume",
    "port",
    "route",
    "token",
    "policy",
    "queue",
    "worker",
    "shard",
    "replica",
]


def chunks():
    chance, text = random.Random(2), ""
    for i in range(60):
        if i % 3 != 1:  # the second chunk of a document repeats the first one
            text = " ".join(chance.choices(WORDS, k=chance.randint(4, 20)))
        shown = text + " Zebra" * (i in (39, 40))  # the best passages name the document d17
        title = {"title": "Zebra"} if i // 3 == 17 else {}
        tags = [f"t{i % 3}", "even" if i % 2 == 0 else "odd"]
        yield {
            "doc_id": f"d{i // 3}", "chunk_index": i % 3, "content": shown, "tags": tags,
            "metadata": {"year": 2000 + i, **title},
        }  # fmt: skip


@pytest.fixture(scope="module")
def path(tmp_path_factory):
    path = tmp_path_factory.mktemp("options") / "kb.ragfile"
    with ragfile.create(path, embedder="default") as writer:
        writer.add(chunks())
    return path


@pytest.fixture(scope="module")
def rf(path):
    with ragfile.open(path) as opened:
        yield opened


def as_python(name):
    value = VALUES[name]
    return tuple(value) if name == "fusion" else value


def expected(rf, name):
    return ids(rf.search(QUESTION, HITS, **{name: as_python(name)}))


def ids(hits):
    return [hit.id for hit in hits]


# ------------------------------------------------------------------------------------ declarations


def test_every_option_has_a_value_here():
    assert VALUES.keys() == SEARCH.options.keys()
    assert OF_ASK.keys() | SEARCH.options.keys() == ASK.options.keys()


@pytest.mark.parametrize("name", SEARCHES)
def test_an_option_changes_the_answer(rf, name):
    assert (expected(rf, name) == ids(rf.search(QUESTION, HITS))) == (name in SAME)


@pytest.mark.parametrize("table", [SEARCH, BATCH, EXPLAIN, ASK], ids=lambda table: table.call)
def test_an_option_says_what_it_does_and_where_it_is_missing(table):
    for name, option in table.options.items():
        assert re.fullmatch(r"[A-Z].*\.", option.description), name
        assert option.absent.keys() <= DOORS
        assert all(option.absent.values()), name


def test_batches_and_explanations_have_the_options_of_a_search():
    assert BATCH.options.keys() - SEARCH.options.keys() == {"vectors"}
    single = {"vector", "similar_to", "rewrites", "group", "cache", "rerank"}
    assert SEARCH.options.keys() - BATCH.options.keys() == single
    assert EXPLAIN.options.keys() <= SEARCH.options.keys() <= ASK.options.keys()


@pytest.mark.parametrize(
    "record", [SearchOptions, RetrievalOptions, BatchOptions, ExplainOptions, AskOptions]
)
def test_the_types_of_a_record_resolve(record):
    assert typing.get_type_hints(record).keys() == record.__annotations__.keys()


@pytest.mark.parametrize("table", [SEARCH, BATCH], ids=lambda table: table.call)
def test_a_question_is_made_of_the_options_and_has_their_defaults(table):
    mine = {"similar_to", "rewrites", "cache", "rerank", "request_id", "vector", "vectors"}
    question = Question(["a"])
    for name in table.options.keys() - mine:
        assert getattr(question, name) == table.defaults[name], name
    assert question.k == K.default


@pytest.mark.parametrize("name", sorted(set(SEARCHES) - {"request_id", "threads", "cache"}))
def test_an_answer_is_kept_for_its_own_options_alone(path, name):
    """Asked with and without an option, one open file gives both answers, in either order."""
    with ragfile.open(path) as rf:
        plain = [ids(rf.search(QUESTION, HITS)) for _ in range(2)]
        other = [ids(rf.search(QUESTION, HITS, **{name: as_python(name)})) for _ in range(2)]
        assert plain == [ids(rf.search(QUESTION, HITS, cache=False))] * 2
        assert other == [expected(rf, name)] * 2
    wide = Question([QUESTION], HITS, vectors=None).key()
    known = SEARCH.options.keys() - {"similar_to", "rewrites", "rerank", "vector"}
    if name in known:
        changed = Question([QUESTION], HITS, **{name: as_python(name)}).key()
        assert changed != wide


# ------------------------------------------------------------------------------------------ Python


CALLS = {
    ragfile.KnowledgeBase.search: SEARCH,
    ragfile.KnowledgeBase.asearch: SEARCH,
    ragfile.KnowledgeBase.search_batch: BATCH,
    ragfile.KnowledgeBase.asearch_batch: BATCH,
    ragfile.KnowledgeBase.explain: EXPLAIN,
}


@pytest.mark.parametrize("call", CALLS, ids=lambda call: call.__name__)
def test_a_signature_and_its_help_list_every_option(call):
    parameters, shown = inspect.signature(call).parameters, inspect.getdoc(call) or ""
    for name, option in CALLS[call].options.items():
        assert parameters[name].default == option.default
        assert f"\n    {name}: {option.help}" in shown or call.__name__.startswith("a")
    assert parameters["k"].default == K.default


@pytest.mark.parametrize("call", CALLS, ids=lambda call: call.__name__)
def test_a_misspelt_option_is_refused_with_the_one_that_was_meant(rf, call):
    asked = {"explain": ("keys", 0)}.get(call.__name__, (["keys"],))
    with pytest.raises(TypeError, match=r"has no option 'pol': did you mean 'pool'\?"):
        found = call(rf, *asked, pol=3)
        if inspect.iscoroutine(found):
            asyncio.run(found)


@pytest.mark.parametrize("name", SEARCHES)
def test_a_coroutine_takes_it(rf, name):
    hits = asyncio.run(rf.asearch(QUESTION, HITS, **{name: as_python(name)}))
    assert ids(hits) == expected(rf, name)


@pytest.mark.parametrize("name", sorted(BATCH.options.keys() & SEARCH.options.keys()))
def test_a_batch_takes_it(rf, name):
    for found in (
        rf.search_batch([QUESTION, "job"], HITS, **{name: as_python(name)}),
        asyncio.run(rf.asearch_batch([QUESTION, "job"], HITS, **{name: as_python(name)})),
    ):
        assert ids(found[0]) == expected(rf, name)


@pytest.mark.parametrize("name", sorted(EXPLAIN.options))
def test_an_explanation_takes_it(rf, name):
    [best, *_] = rf.search(QUESTION, HITS, **{name: as_python(name)})
    found = rf.explain(QUESTION, best.id, HITS, **{name: as_python(name)})
    assert (found.rank, found.score) == (1, pytest.approx(best.score))


@pytest.fixture(scope="module")
def shards(tmp_path_factory):
    folder = tmp_path_factory.mktemp("shards")
    (folder / "in").mkdir()
    for i, one in enumerate(chunks()):
        said = {"tags": one["tags"], **one["metadata"]}
        text = f"---\n{json.dumps(said)}\n---\n{one['content']}\n"
        (folder / "in" / f"d{i}.md").write_text(text)
    dataset.build(folder / "in", folder / "many", shards=3)
    ragfile.build(folder / "in", folder / "one.ragfile")
    with ragfile.open(folder / "many") as many, ragfile.open(folder / "one.ragfile") as one:
        yield many, one


@pytest.mark.parametrize("name", SEARCHES)
def test_a_dataset_takes_it(shards, name):
    many, one = shards
    value = "d3.md#0" if name == "similar_to" else as_python(name)
    asked = {name: value}
    assert ids(many.search(QUESTION, HITS, **asked)) == ids(one.search(QUESTION, HITS, **asked))


@pytest.mark.parametrize("name", SEARCHES)
def test_ask_takes_it(rf, name):
    asked = {"hops": 0} | {name: as_python(name)}  # `ask` has a default of its own for hops
    answer = rf.ask(QUESTION, k=HITS, **asked)
    found = [f"{one.doc_id}#{one.chunk_index}" for one in answer.contexts]
    assert sorted(found) == sorted(ids(rf.search(QUESTION, HITS, **asked)))


@pytest.mark.parametrize("name", sorted(OF_ASK))
def test_ask_takes_its_own(rf, name):
    assert rf.ask(QUESTION, **{name: OF_ASK[name]}).sources
    with pytest.raises(TypeError, match=f"ask.. has no option '{name}x'"):
        rf.ask(QUESTION, **{f"{name}x": OF_ASK[name]})


@pytest.mark.parametrize("name", SEARCHES)
def test_adapters_pass_it_on(tmp_path_factory, rf, name, path):
    store = PassageStore(path)
    assert ids(store.search(QUESTION, HITS, **{name: as_python(name)})) == expected(rf, name)
    store.close()
    empty = PassageStore(tmp_path_factory.mktemp("empty") / "kb.ragfile")
    with pytest.raises(TypeError, match="has no option"):
        empty.search(QUESTION, HITS, **{f"{name}x": 1})


@pytest.mark.parametrize("name", SEARCHES)
def test_langchain_passes_it_on(path, rf, name):
    pytest.importorskip("langchain_core", reason="langchain-core is not installed")
    from ragfile.adapters.langchain import RagfileRetriever

    asked = {name: as_python(name)}
    for retriever, said in (
        (RagfileRetriever(path=path, k=HITS, options=asked), {}),
        (RagfileRetriever(path=path, k=HITS), asked),
    ):
        assert [one.id for one in retriever.invoke(QUESTION, **said)] == expected(rf, name)


def test_stores_hold_passages_for_adapters(tmp_path):
    store = PassageStore(tmp_path / "kb.ragfile")
    store.put([Passage("a", "keys"), Passage("b", "keys and pods")])
    assert len(store.search("keys", 1, offset=1, mode="bm25")) == 1
    store.close()


# ------------------------------------------------------------------------------------ other doors


@pytest.fixture(scope="module")
def server(path):
    for package in ("uvicorn", "starlette", "httptools", "uvloop"):
        pytest.importorskip(package, reason="the extra server is not installed")
    from doors.server.conftest import Serving

    with Serving(path) as serving:
        yield serving


@pytest.mark.parametrize("name", offered("rest"))
def test_rest_takes_it(server, rf, name):
    asked = {"query": QUESTION, "k": HITS, name: VALUES[name]}
    found = server.search(asked)
    assert found.status == 200, found.body
    assert [hit["id"] for hit in found.json["hits"]] == expected(rf, name)


@pytest.mark.parametrize("name", [n for n in offered("rest") if n in BATCH.options])
def test_rest_takes_it_in_a_batch(server, rf, name):
    found = server.search({"queries": ["job", QUESTION], "k": HITS, name: VALUES[name]})
    assert found.status == 200, found.body
    assert [hit["id"] for hit in found.json["results"][1]["hits"]] == expected(rf, name)


@pytest.mark.parametrize("name", offered("rest", ASK))
def test_rest_answers_take_it(server, name):
    value = "none" if name == "model" else (VALUES | OF_ASK)[name]
    found = server.post("/v1/collections/kb/ask", {"question": QUESTION, name: value})
    assert found.status == 200, found.body


@pytest.mark.parametrize("name", sorted(ASK.options.keys() - set(offered("rest", ASK))))
def test_rest_refuses_what_it_does_not_offer(server, name):
    found = server.post("/v1/collections/kb/ask", {"question": QUESTION, name: None})
    assert (found.status, found.error["param"]) == (422, name)


def test_tools_list_the_options_that_are_declared_for_them(rf, path):
    declared = [o.name for o in (K, *SEARCH.options.values()) if o.tool is not None]
    [search] = [tool for tool in Tools(Files([str(path)])).listed() if tool["name"] == "search"]
    schema, call = rf.as_tool(k=HITS)
    for properties in (
        search["inputSchema"]["properties"],
        schema["function"]["parameters"]["properties"],
    ):
        assert [name for name in properties if name in {"k", *SEARCH.options}] == declared
    for name in set(declared) - {"k"}:
        found = Tools(Files([str(path)])).call(
            "search", {"query": QUESTION, "k": HITS, "tokens": 20_000, name: VALUES[name]}
        )
        listed = [hit["id"] for hit in found["structuredContent"]["hits"]]
        assert listed == expected(rf, name) == [one["id"] for one in call(QUESTION, **{name: VALUES[name]})]  # fmt: skip


def flags(name, value):
    """An option as the command line spells it."""
    option = ASK.options[name]
    flag = option.flag or "--" + name.replace("_", "-")
    if isinstance(value, bool):
        return [flag]
    if name == "fields":
        return [part for field in value.items() for part in (flag, "{}={}".format(*field))]
    if isinstance(value, list) and name != "fusion":
        return [part for one in value for part in (flag, one)]
    return [flag, value if isinstance(value, str) else json.dumps(value)]


def run(capsys, *arguments, codes=(0,)):
    with pytest.raises(SystemExit) as ended:
        main([*map(str, arguments)])
    said = capsys.readouterr()
    assert ended.value.code in codes, said.err
    return said.out


@pytest.mark.parametrize("name", offered("cli"))
def test_the_command_line_takes_it(capsys, path, rf, name):
    asked = flags(name, VALUES[name])
    out = run(capsys, "search", path, QUESTION, "-k", HITS, "--json", *asked)
    assert [hit["id"] for hit in json.loads(out)["hits"]] == expected(rf, name)
    for command in ("search", "ask"):
        assert re.search(rf"^ +{asked[0]}\b", run(capsys, command, "--help"), re.MULTILINE)


@pytest.mark.parametrize("name", offered("cli", ASK))
def test_the_command_line_answers_with_it(capsys, path, name):
    asked = [] if name == "model" else flags(name, (VALUES | OF_ASK)[name])
    # 4: what is left after the best passages supports no answer
    found = json.loads(run(capsys, "ask", path, QUESTION, "--json", *asked, codes=(0, 4)))
    assert found["text"]
    flag = ASK.options[name].flag or "--" + name.replace("_", "-")
    assert re.search(rf"^ +{flag}\b", run(capsys, "ask", "--help"), re.MULTILINE)


def test_the_command_line_asks_for_as_many_passages_as_the_library(capsys):
    shown = re.search(r"-k INTEGER.*?default: +(\d+)", run(capsys, "ask", "--help"), re.DOTALL)
    assert shown
    assert int(shown[1]) == ASK.defaults["k"]


def camel(name):
    return re.sub(r"_(\w)", lambda letter: letter[1].upper(), name)


def test_the_browser_declares_and_reads_the_same_options():
    names = {camel(name) for name in ["k", *offered("browser")]}
    declared = (WEB / "index.d.ts").read_text()
    interfaces = re.findall(r"interface (?:Filter|SearchOptions)\b.*?\{\n(.*?)^\}", declared, re.M | re.S)  # fmt: skip
    members = set(re.findall(r"^  (\w+)\?:", "".join(interfaces), re.MULTILINE))
    assert members - {"tags"} == names  # tags is short for tagsAny
    text = (WEB / "retrieval.js").read_text()
    read = re.search(r"const OPTIONS = new Set\(\s*\((.*?)\)", text, re.DOTALL)
    assert read
    assert set("".join(re.findall(r'"(.*?)"', read[1])).split()) - {"tags"} == names
    for module in ("index.js", "retrieval.js"):
        [modes] = re.findall(r"const MODES = (\[.*?\]);", (WEB / module).read_text())
        assert tuple(json.loads(modes)) == typing.get_args(SEARCH.options["mode"].kind)


@pytest.fixture(scope="module")
def page(path, web_files):
    from doors.browser.node import Reader

    with Reader(path) as reader:
        reader("open")
        yield reader


def in_javascript(name):
    value = VALUES[name]
    return {camel(key): each for key, each in value.items()} if name == "boost" else value


@pytest.mark.parametrize("name", offered("browser"))
def test_the_browser_takes_it(page, rf, name):
    found = page("search", QUESTION, {"k": HITS, camel(name): in_javascript(name)})
    assert [hit["id"] for hit in found["hits"]] == expected(rf, name)


@pytest.mark.parametrize("name", sorted(SEARCH.options.keys() - set(offered("browser"))))
def test_the_browser_refuses_what_it_does_not_offer(page, name):
    answer = page.answer("search", QUESTION, {camel(name): VALUES[name]})
    assert f"no option '{camel(name)}' here" in answer["message"]


@pytest.mark.skipif(not TOOL.exists(), reason="not in a source distribution")
def test_the_docs_table_and_the_types_of_the_browser_are_those_of_the_declarations():
    tool = runpy.run_path(str(TOOL))
    for path, renewed in ((tool["page"](), "with_table"), (tool["TYPES"], "with_types")):
        text = path.read_text(encoding="utf-8")
        assert tool[renewed](text) == text, f"run python {TOOL.relative_to(ROOT)}"


# --------------------------------------------------------------------------- a door that lacks one


def test_an_option_without_an_implementation_is_noticed(rf, monkeypatch):
    """Declared alone, an option does not pass for one that works."""
    extra = Option("Move the answer.", 0)
    extra.name, extra.kind = "shift", int
    table = OptionTable(SearchOptions, "search")
    table.options["shift"], table.defaults["shift"] = extra, 0
    monkeypatch.setattr("ragfile.knowledge_base.SEARCH", table)
    with pytest.raises(TypeError, match="shift"):
        rf.search(QUESTION, HITS)
