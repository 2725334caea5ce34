"""The npm package: what `npm pack` takes, its version, and its types as TypeScript's compiler sees them."""

import json
import os
import posixpath
import re
import shutil
import subprocess
from pathlib import Path

import pytest
from doors.browser.node import MODEL, node
from places import ROOT

import ragfile

WEB = ROOT / "ragfile/doors/browser"
PACKAGE = json.loads((WEB / "package.json").read_text(encoding="utf-8"))
USER = """
import { open, MODES, CorruptError, type Hit, type RagFile } from "ragfile";
import { RemoteError } from "ragfile/errors";
import "ragfile/element";

const file: RagFile = await open(new URL("https://example.org/kb.ragfile"), { memory: 1 << 20 });
const { hits, degraded } = await file.search("keys", {
  k: 5, mode: "bm25", offset: 5, dropRepeats: true, minScore: 0.5, similarTo: "a.md#0", rewrites: ["key"],
  where: { year: { $gte: 2020 } }, boost: { field: "year", weight: 1, reference: 2026, halfLife: 2 },
});
const first: Hit | undefined = hits[0];
const spans: [number, number][] = await file.highlights("keys", first?.text ?? "");
const status: number | null = new RemoteError("x").status;
const section: string = new CorruptError("x").section;
const element: HTMLElement = document.createElement("ragfile-search");
console.log(degraded.length, spans, status, section, element, MODES[0], (await file.nearest([1, 2])).scores[0]);
// @ts-expect-error a misspelt option
await file.search("keys", { ofset: 3 });
// @ts-expect-error no such mode
await file.search("keys", { mode: "meaning" });
// @ts-expect-error not a call
await file.serch("keys");
"""


def test_the_version_is_that_of_the_python_package():
    assert PACKAGE["version"] == ragfile.__version__


def exported(entry):
    return [entry] if isinstance(entry, str) else list(entry.values())


@pytest.fixture(scope="module")
def packed(tmp_path_factory):
    """The names of what npm packs."""
    npm = shutil.which("npm")
    if npm is None:
        pytest.skip("npm is not installed")
    env = os.environ | {
        "npm_config_cache": str(tmp_path_factory.mktemp("npm")),
        "npm_config_offline": "true",
    }
    done = subprocess.run([npm, "pack", "--dry-run", "--json", "--ignore-scripts"],
                          cwd=WEB, capture_output=True, text=True, check=True, env=env)  # fmt: skip
    return {file["path"] for file in json.loads(done.stdout)[0]["files"]}


def test_npm_packs_all_that_modules_import_and_nothing_else(packed):
    licences = ("LICENSE", "zstd.LICENSE", "unicode.LICENSE", "stemmers/LICENSE")
    for name in ("package.json", "README.md", "ragfile.wasm.gz", *licences):
        assert name in packed
    for entry in PACKAGE["exports"].values():
        assert {place.removeprefix("./") for place in exported(entry)} <= packed
    there = {str(path.relative_to(WEB)) for path in WEB.rglob("*") if path.is_file()}
    assert packed == there
    for name in packed:
        if name.endswith(".js"):
            text = (WEB / name).read_text(encoding="utf-8")
            for other in re.findall(r'from "(\.[^"]+)"', text):
                assert posixpath.normpath(f"{Path(name).parent}/{other}") in packed, (name, other)


def test_every_call_of_the_module_is_declared(tmp_path):
    script = """import { open } from "./index.js"; import { readFileSync } from "node:fs";
        const names = (of) => Object.getOwnPropertyNames(Object.getPrototypeOf(of));
        const file = await open(readFileSync(process.argv[1]));
        console.log(JSON.stringify(names(file)));"""
    with ragfile.create(tmp_path / "kb.ragfile") as w:
        w.add_documents([{"id": "a", "text": "keys"}])
    done = subprocess.run([node(), "--input-type=module", "-e", script, tmp_path / "kb.ragfile"],
                          cwd=WEB, capture_output=True, text=True, check=True)  # fmt: skip
    declared = (WEB / "index.d.ts").read_text(encoding="utf-8")
    for name in set(json.loads(done.stdout)) - {"constructor"}:
        assert re.search(rf"^  (readonly )?{name}[(:]", declared, re.M), name


def test_types_are_what_a_program_in_typescript_needs(tmp_path):
    compiler = os.environ.get("TSC") or shutil.which("tsc")
    if compiler is None:
        pytest.skip("no tsc on the path or in TSC: make -C tests web-package")
    (tmp_path / "node_modules").mkdir()
    (tmp_path / "node_modules/ragfile").symlink_to(WEB)
    (tmp_path / "user.ts").write_text(USER)
    command = [compiler, "--noEmit", "--strict", "--target", "es2022", "--module", "esnext",
               "--moduleResolution", "bundler", "--lib", "es2022,dom", "user.ts"]  # fmt: skip
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout


def test_deno_runs_it_as_it_is(tmp_path):
    deno = os.environ.get("DENO") or shutil.which("deno")
    if deno is None:
        pytest.skip("no deno on the path or in DENO: make -C tests web-package")
    path = tmp_path / "kb.ragfile"
    with ragfile.create(path, embedder="default") as w:
        w.add_documents([{"id": f"d{i}", "text": f"pods and nodes {i} running"} for i in range(40)])
    command = [deno, "run", "-A", "--no-remote", Path(__file__).parent / "deno.mjs",
               path.as_uri(), MODEL.as_uri(), "node 7 runs"]  # fmt: skip
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    with ragfile.open(path) as rf:
        for mode, found in json.loads(done.stdout).items():
            hits = rf.search("node 7 runs", 5, mode=mode)
            assert found == [[h.id, h.score] for h in hits]
