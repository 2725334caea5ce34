"""A build compiles the files again that use a changed declaration, and no file that needs more."""

import shutil
import subprocess
import sys

import pytest
from places import ROOT, ZSTD

sys.path.insert(0, str(ROOT / "tools"))
import header_uses

HEADERS = sorted((ROOT / "csrc/include/ragfile").glob("*.h"))


def read_by(source):
    """The files of csrc/ that a compiler reads for this one: (public headers, others)."""
    folders = ["-Icsrc/include", "-Icsrc", f"-I{ZSTD}"]
    command = ["cc", "-MM", "-std=gnu11", *folders, source.relative_to(ROOT)]
    done = subprocess.run(command, cwd=ROOT, check=True, capture_output=True, text=True)
    paths = [name for name in done.stdout.replace("\\\n", " ").split()[1:] if "csrc/" in name]
    public = [name for name in paths if name.startswith(header_uses.PUBLIC)]
    return public, [name for name in paths if name not in public]


def strip(folder, public, used):
    """Write these headers with the used declarations alone."""
    for name in public:
        kept = [text for _, text in header_uses.declarations(name) if text in used]
        kept = [text for text in kept if not text.startswith(("#ifndef", "#endif"))]
        path = folder / name.removeprefix("csrc/include/")
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("\n".join(["#pragma once", *kept, ""]))


@pytest.mark.skipif(not shutil.which("cc"), reason="no C compiler here")
@pytest.mark.parametrize("room", sorted({p.parent.name for p in ROOT.glob("csrc/*/*.c")}))
def test_a_file_compiles_with_the_declarations_that_it_is_said_to_use(room, tmp_path, monkeypatch):
    monkeypatch.chdir(ROOT)
    flags = ["-std=gnu11", "-fsyntax-only", "-Wall", "-Wno-unused", "-Werror"]
    for source in sorted((ROOT / "csrc" / room).glob("*.c")):
        public, others = read_by(source)
        folder = tmp_path / source.stem
        folder.mkdir()
        strip(folder, public, header_uses.used_declarations(others, public))
        folders = [f"-I{folder}", "-Icsrc", f"-I{ZSTD}"]
        subprocess.run(["cc", *flags, *folders, source], cwd=ROOT, check=True)


def test_the_form_of_most_declarations_is_known(monkeypatch):
    monkeypatch.chdir(ROOT)
    paths = [str(path.relative_to(ROOT)) for path in HEADERS]
    found = [one for path in paths for one in header_uses.declarations(path)]
    unknown = {text for names, text in found if not names and not text.startswith("#")}
    assert not unknown


def test_a_declaration_counts_where_it_is_used_in_several_steps(tmp_path):
    header, source = tmp_path / "h.h", tmp_path / "s.c"
    header.write_text(
        "struct rag_a { int x; };\nstruct rag_b { struct rag_a a; };\nvoid rag_f(struct rag_b *);\n"
        "void rag_g(void);\nunion strange { int y; };\n"
        "static inline int rag_i(void) { return 1; }\nstruct rag_c { int z; };\n"
    )
    source.write_text("int main(void) { rag_f(0); }\n")
    used = header_uses.used_declarations([str(source)], [str(header)])
    assert used == [
        "struct rag_a { int x; };",
        "struct rag_b { struct rag_a a; };",
        "union strange { int y; };",  # its form is unknown
        "void rag_f(struct rag_b *);",
    ]
