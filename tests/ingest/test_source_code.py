"""Source code: as it is in the file, cut by its definitions, each found under the names around it."""

import ast
import inspect
import json
import textwrap

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ragfile.ingest.chunker import split
from ragfile.ingest.document_loader import load
from ragfile.ingest.loaders import definitions
from ragfile.opener import open as open_file
from ragfile.write.builder import build

BODY = "pass  # " + "word " * 300


def only(tmp_path, name, text):
    path = tmp_path / name
    path.write_bytes(text.encode())
    (document,) = load(path)
    return document


def symbols(language, text, monkeypatch, together=0):
    monkeypatch.setattr(definitions, "TOGETHER", together)
    return [symbol for _, _, symbol in definitions.outline(language)(text)]


PYTHON = '''"""Doc
def no(): pass
"""
import os

@decorated(
  1)
# why
class A:
    """What it is."""
    x = 1

    def f(self,
          a):
        return (1,
2)

    async def g(self): pass

def h(): return "def z(): "
cdef int fast(int x): return 1
'''
C = """#include <a.h>
/* a comment { */
struct point { int x; };
static const int table[] = { 1, 2 };
/* adds */
static struct point *
add(struct point *a, char c)
{
  if (c == '{') { return a; }
  for (;;) { x("}"); }
}
extern "C" {
int f(void) { return 1; }
}
namespace ns {
template <class T> class Vec : public Base<T> {
 public:
  ~Vec() { }
  bool operator==(const Vec& o) const { return true; }
  T get(int i) const noexcept { return d[i]; }
};
}
"""
JAVA = """package a.b;
/** Doc. */
@Foo(bar = "{")
public class A<T extends B> implements C {
  @Override
  public int get(int i) throws E { return 1; }
  interface I { void g(); }
}
"""
GO = "package main\n\n// Doc\ntype T struct {\n\ta int\n}\n\nfunc (t *T) Name(x int) (string, error) {\n\treturn `}`, nil\n}\nfunc main() {\n\tgo func() { x() }()\n}\n"
RUST = """#[derive(Debug)]
pub struct P<'a> { x: &'a str }
impl<'a> Display for P<'a> {
    fn fmt(&self, f: &mut F<'_>) -> Result<(), E> { write!(f, "{}", '}') }
}
pub async fn run<T: Into<String>>(x: T) -> Result<()> where T: A { let c = r#"}"#; }
"""
JS = """const x = { a: 1 }
export const add = async (a, b) => { return `}${a}` }
export default function () { return 1 }
class Foo extends mixin(Bar) {
  constructor(a) { this.a = a }
  async get(x) { if (x) { return 1 } }
}
module.exports.thing = function named(a) { }
"""
SHELL = 'set -e\nfoo() {\n  echo "}"\n}\nfunction bar {\n  x\n}\none() { echo; }\nfoo\n'


RUBY = """# Doc
module A
  # counts
  class B < C
    def initialize(x)
      y if x
    end

    private def go!(a)
      b
    end
  end
end
def self.top; end
"""
ELIXIR = 'defmodule My.Mod do\n  @doc "x"\n  def run(a) do\n    a\n  end\n\n  defp helper(a), do: a\nend\n'
LUA = "local M = {}\n-- adds\nfunction M.add(a, b)\n  return a + b\nend\nM.sub = function(a)\n  return a\nend\nreturn M\n"
SQL = """-- Users of it
CREATE TABLE IF NOT EXISTS "users" (
  id int
);
insert into users values (1);
create or replace function f(x int) returns int as $$
begin
  return x;
end
$$;
"""
HASKELL = "module A where\n-- | Doc\ndata T = T Int\nf :: Int -> Int\nf x = x\nclass Show a => C a where\n  m :: a\n"
POWERSHELL = "function Get-Thing {\n  param($x)\n  $x\n}\nClass A {\n}\n"
PHP = """<?php
// it's a
class Foo extends Bar {
  public function get(int $a): array { return ['}']; } # }
}
function top($x) { return $x; }
"""
CSHARP = """namespace A.B {
  [Attr("{")]
  public class C<T> : D where T : E {
    public int X { get; set; }
    public async Task<int> Run(int a) { return 1; }
  }
}
"""
KOTLIN = """data class P(val a: Int) : Q() {
  fun get(x: Int): Int { return x }
  companion object { val y = 1 }
}
fun String.foo(): Int { return \"\"\"}\"\"\".length }
object O { fun z() {} }
"""
SWIFT = "protocol P { func a() }\nextension Foo: Bar where T: X {\n  func run<T>(x: T) -> [T] { return [] }\n}\n"
SCALA = "object Main extends App {\n  def f(x: Int): Int = { x }\n  case class A(x: Int) { def g() = { 1 } }\n}\n"
ZIG = """pub fn add(a: i32, b: i32) i32 { return a; }
const P = packed struct {
  const text =
      \\\\ }
  ;
  fn len(self: P) u32 { return 1; }
};
"""


@pytest.mark.parametrize(
    ("language", "text", "expected"),
    [
        ("python", PYTHON, ["A", "A > f", "A > g", "h", "fast"]),
        (
            "c",
            C,
            [
                "point",
                "add",
                "f",
                "ns > Vec",
                "ns > Vec > ~Vec",
                "ns > Vec > operator==",
                "ns > Vec > get",
            ],
        ),
        ("java", JAVA, ["A", "A > get", "A > I"]),
        ("go", GO, ["T", "T.Name", "main"]),
        ("rust", RUST, ["P", "Display for P", "Display for P > fmt", "run"]),
        (
            "js",
            JS,
            ["add", "default", "Foo", "Foo > constructor", "Foo > get", "module.exports.thing"],
        ),
        ("shell", SHELL, ["foo", "bar", "one"]),
        ("ruby", RUBY, ["A", "A > B", "A > B > initialize", "A > B > go!", "self.top"]),
        ("elixir", ELIXIR, ["My.Mod", "My.Mod > run", "My.Mod > helper"]),
        ("lua", LUA, ["M.add", "M.sub"]),
        ("sql", SQL, ["users", "f"]),
        ("haskell", HASKELL, ["T", "f", "Show a => C a"]),
        ("powershell", POWERSHELL, ["Get-Thing", "A"]),
        ("php", PHP, ["Foo", "Foo > get", "top"]),
        ("csharp", CSHARP, ["A.B", "A.B > C", "A.B > C > Run"]),
        ("kotlin", KOTLIN, ["P", "P > get", "foo", "O", "O > z"]),
        ("swift", SWIFT, ["P", "Foo", "Foo > run"]),
        ("scala", SCALA, ["Main", "Main > f", "Main > A", "Main > A > g"]),
        ("zig", ZIG, ["add", "P", "P > len"]),
    ],
)
def test_definitions_are_found_under_the_names_around_them(language, text, expected, monkeypatch):
    found = list(dict.fromkeys(symbols(language, text, monkeypatch)))
    assert [name for name in found if name and name != "ns"] == expected


LANGUAGES = [
    "python",
    "c",
    "java",
    "go",
    "rust",
    "js",
    "shell",
    "ruby",
    "elixir",
    "lua",
    "sql",
    "haskell",
    "powershell",
    "php",
    "csharp",
    "kotlin",
    "swift",
    "scala",
    "zig",
]


@pytest.mark.parametrize("language", LANGUAGES)
@given(st.text(st.sampled_from(list("{}()[];:=<>'\"`/*#\\ \n\tdefclass")), max_size=300))
def test_segments_lie_in_order_and_lose_nothing(language, text):
    at = 0
    for start, end, _ in definitions.outline(language)(text):
        assert at <= start < end <= len(text)
        assert not text[at:start].strip()
        at = end
    assert not text[at:].strip()


@pytest.mark.parametrize("module", [ast, inspect, json, textwrap])
def test_pythons_own_parser_finds_the_same_definitions(module, monkeypatch):
    """Of real modules: all functions and classes that are not inside functions."""
    text = inspect.getsource(module)

    def named(nodes, above=()):
        for node in nodes:
            if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
                yield " > ".join([*above, node.name])
            if isinstance(node, ast.ClassDef):
                yield from named(node.body, (*above, node.name))

    monkeypatch.setattr(definitions, "NAMES", 10**6)
    found = set(symbols("python", text, monkeypatch))
    assert set(named(ast.parse(text).body)) <= found


def test_a_file_is_kept_as_it_is_and_its_chunks_say_where_they_are(tmp_path):
    text = f"import os\r\n\r\n\r\n\r\n\r\nclass Cache:\r\n    def get(self):\r\n        {BODY}\r\n\r\n    def put(self):\r\n        # note\r\n        {BODY}\r\n"
    document = only(tmp_path, "lru_cache.py", text)
    assert document.original == text
    chunks = split(document)
    found = {(c.metadata["headers"], c.metadata["line"]) for c in chunks}
    assert ("lru cache > Cache > get", 7) in found
    assert ("lru cache > Cache > put", 10) in found
    assert all(document.text[c.start : c.end] == c.content for c in chunks)


def test_small_definitions_of_one_scope_are_together(tmp_path):
    document = only(tmp_path, "a.py", "def f(): pass\n\ndef g(): pass\n")
    assert [c.metadata["headers"] for c in split(document)] == ["a > f, g"]


def test_source_code_is_found_by_what_it_defines_and_cut_again_alike(tmp_path):
    (tmp_path / "src").mkdir()
    (tmp_path / "src" / "a.py").write_text(
        f"# one\nclass Store:\n    def close(self):\n        # two\n        {BODY}\n"
    )
    (tmp_path / "src" / "b.py").write_text(f"# three\ndef other():\n    {BODY}\n")
    path = tmp_path / "kb.ragfile"
    build([tmp_path / "src"], path, chunking="markdown:800")
    with open_file(path) as rf:
        hit = rf.search("close a store", k=1)[0]
        assert hit.metadata["headers"].startswith("a > Store")
    from ragfile.write.reindex import reindex

    reindex(path, chunking="markdown:600")
    with open_file(path) as rf:
        hits = rf.search("close a store", k=50)
        assert {hit.metadata["headers"] for hit in hits} <= {
            "a",
            "a > Store",
            "a > Store > close",
            "b",
            "b > other",
        }


def test_a_closing_brace_too_many_or_too_few_ends_nothing_early(monkeypatch):
    assert symbols("c", "}}} int f(void) { return 1; }", monkeypatch)[-1] == "f"
    assert symbols("c", "int f(void) { {{{", monkeypatch) == ["f"]
    assert symbols("python", "x = (((\ndef f(): pass\n", monkeypatch) == ["", "f"]
