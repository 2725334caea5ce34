"""Bundles on the command line: build, search, verify, diff."""

import json

import pytest


@pytest.fixture
def bundle(tmp_path):
    folder = tmp_path / "bundle"
    folder.mkdir()
    (folder / "index.md").write_text('---\nokf_version: "0.2"\n---\n# Acme\n\n- [a](/a.md)\n')
    (folder / "a.md").write_text("---\ntype: x\nstale_after: 2020-01-02\n---\none row per order\n")
    return folder


def test_a_hit_and_a_source_tell_that_they_are_stale(run, bundle, tmp_path):
    file = tmp_path / "kb.ragfile"
    run("build", bundle, "-o", file, "--embedder", "none")
    assert "stale since 2020-01-02, unverified" in run("search", file, "row per order")[1]
    assert "(stale since 2020-01-02, unverified)" in run("ask", file, "one row per what?")[1]


def test_verify_names_the_rules_that_a_bundle_breaks(run, bundle, tmp_path):
    file = tmp_path / "kb.ragfile"
    run("build", bundle, "-o", file, "--embedder", "none")
    assert run("verify", file)[0] == 0
    (bundle / "b.md").write_text("text\n")
    run("sync", file, bundle)
    code, out, _ = run("verify", file)
    assert (code, "bundle: b.md: it needs front matter\n" in out) == (1, True)
    code, out, _ = run("verify", file, "--json")
    assert (code, json.loads(out)["bundle"]) == (
        1,
        [{"path": "b.md", "rule": "it needs front matter"}],
    )


def test_a_diff_lists_the_files_that_two_generations_differ_by(run, bundle, tmp_path):
    file = tmp_path / "kb.ragfile"
    run("build", bundle, "-o", file, "--embedder", "none", "--keep", "all")
    (bundle / "b.md").write_text("---\ntype: y\n---\nnew\n")
    run("sync", file, bundle)
    assert run("diff", file, "1") == (0, "A b.md\n", "")
    assert run("diff", file, "2", "1", "--patch")[1].startswith(
        "D b.md\n--- a/b.md\n+++ /dev/null\n"
    )
    assert json.loads(run("diff", file, "1", "--json")[1]) == {
        "changes": [{"path": "b.md", "how": "added"}]
    }
