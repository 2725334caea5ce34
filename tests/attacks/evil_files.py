"""Files that a stranger could send to be converted: what each would do to a reader that trusts it, and its bytes.

    python tests/attacks/evil_files.py --write      write README.md, the list of the attacks
    python tests/attacks/evil_files.py --to FOLDER  write the files themselves

The files are made by this script and never kept. Those of ragfile's own formats are in spec/vectors, made by
bad_files.py; the ones here cost time or memory, or try to run a program or to read another file.
"""

import argparse
import io
import json
import pickle
import sqlite3
import struct
import sys
import tarfile
import zipfile
from pathlib import Path
from typing import NamedTuple

HERE = Path(__file__).parent
OWNED = "owned"  # the file that a program of an attacker writes
SECRET = "a line of a private file"


class Attack(NamedTuple):
    """An evil file: a function that writes it into a folder and returns its path."""

    name: str
    kind: str
    would: str
    make: object
    options: dict = {}  # noqa: RUF012 - it is never changed
    needs: str = ""


ATTACKS = []


def attack(kind, would, needs="", **options):
    """Add a function that makes an evil file; its name is that of the attack."""

    def added(make):
        name = make.__name__.replace("_", "-")
        ATTACKS.append(Attack(name, kind, would, make, options, needs))
        return make

    return added


class Program:
    """What a pickle does that is no data: it writes a file when it is loaded."""

    def __init__(self, folder):
        self.path = str(folder / OWNED)

    def __reduce__(self):
        return open, (self.path, "w")


# ------------------------------------------------------------------------------------------ FAISS ---


def faiss_flat(count, dim, floats, kind=b"IxFI"):
    head = struct.pack("<4siqqqBi", kind, dim, count, 1 << 20, 1 << 20, 1, 0)
    return head + struct.pack("<Q", floats)


def pair(folder, index, metadata=None):
    (folder / "x.faiss").write_bytes(index)
    told = {"chunk_refs": [], "documents": {}, "embedding_dim": 8} if metadata is None else metadata
    (folder / "x.json").write_bytes(told if isinstance(told, bytes) else json.dumps(told).encode())
    return folder / "x.faiss"


@attack("FAISS + JSON", "allocate 2^62 bytes for vectors that are not there")
def faiss_count(folder):
    return pair(folder, faiss_flat(1 << 40, 1 << 20, 1 << 60))


@attack(
    "FAISS + JSON",
    "make rows times dimension wrap around to a small number, and read beyond the rows",
)
def faiss_wrap(folder):
    return pair(folder, faiss_flat(1 << 62, 4, 0))


@attack("FAISS + JSON", "allocate by a negative number of rows")
def faiss_negative(folder):
    return pair(folder, faiss_flat(-1, 8, 0))


@attack("FAISS + JSON", "divide by a dimension of zero")
def faiss_dim_zero(folder):
    return pair(folder, faiss_flat(4, 0, 0))


@attack("FAISS + JSON", "read indexes in indexes until the stack ends")
def faiss_nested(folder):
    return pair(folder, b"".join(faiss_flat(1, 8, 0, b"IxMp")[:33] for _ in range(50_000)))


@attack("FAISS + JSON", "end the stack of a JSON parser")
def json_deep(folder):
    deep = b'{"chunk_refs": [], "documents": {"a": ' + b"[" * 500_000 + b"]" * 500_000 + b"}}"
    return pair(folder, faiss_flat(0, 8, 0), deep)


@attack("FAISS + JSON", "convert a number of a million digits, in a million squared steps")
def json_number(folder):
    return pair(
        folder,
        faiss_flat(0, 8, 0),
        b'{"chunk_refs": [], "documents": {}, "x": ' + b"9" * 1_000_000 + b"}",
    )


@attack(
    "FAISS + JSON", "inflate a megabyte of zeros a thousand times over, as the kept JSON of a pair"
)
def json_kept(folder):
    return pair(folder, faiss_flat(0, 8, 0), {"chunk_refs": [{"x": 1}] * 3, "documents": [[]] * 3})


# ------------------------------------------------------------------------------------------ numpy ---


def npy_folder(folder, vectors):
    path = folder / "store"
    path.mkdir()
    (path / "vectors.npy").write_bytes(vectors)
    (path / "chunks.jsonl").write_text('{"document_id": "a", "chunk_key": "c"}\n')
    (path / "documents.jsonl").write_text('{"body": "{\\"id\\": \\"a\\"}"}\n')
    (path / "note.json").write_text("{}")
    return path


def npy(head, body=b""):
    head = head.encode() if isinstance(head, str) else head
    return b"\x93NUMPY\x02\x00" + struct.pack("<I", len(head)) + head + body


@attack("numpy .npy", "run a program that is pickled in an array of objects")
def npy_pickle(folder):
    head = "{'descr': '|O', 'fortran_order': False, 'shape': (1,)}"
    return npy_folder(folder, npy(head, pickle.dumps([Program(folder)])))


@attack("numpy .npy", "allocate 2^60 bytes for an array without data")
def npy_shape(folder):
    return npy_folder(
        folder, npy(f"{{'descr': '<f4', 'fortran_order': False, 'shape': ({1 << 40}, {1 << 18})}}")
    )


@attack("numpy .npy", "allocate by a negative shape")
def npy_negative(folder):
    return npy_folder(folder, npy("{'descr': '<f4', 'fortran_order': False, 'shape': (-4, 8)}"))


@attack("numpy .npy", "end the stack of the parser of its header, which is a Python literal")
def npy_header_deep(folder):
    return npy_folder(folder, npy("(" * 9_000 + ")" * 9_000))


@attack("numpy .npy", "allocate 4 GB for a header of which 10 bytes are there")
def npy_header_length(folder):
    return npy_folder(folder, b"\x93NUMPY\x02\x00\xff\xff\xff\xff{'descr': ")


@attack("numpy .npy", "name a type that has a program as a field")
def npy_record(folder):
    head = "{'descr': [('a', '|O'), ('b', '<f4', (99999999999,))], 'fortran_order': False, 'shape': (1,)}"
    return npy_folder(folder, npy(head, b"\x80\x04."))


# ----------------------------------------------------------------------------------------- pickle ---


def langchain(folder, raw):
    path = folder / "store"
    path.mkdir()
    (path / "index.faiss").write_bytes(faiss_flat(1, 2, 2) + bytes(8))
    (path / "index.pkl").write_bytes(raw)
    return path


@attack("LangChain FAISS", "run a program when index.pkl is loaded")
def pickle_unasked(folder):
    return langchain(folder, pickle.dumps(Program(folder)))


@attack("LangChain FAISS", "run a program although only documents are allowed", trust_pickle=True)
def pickle_program(folder):
    return langchain(folder, pickle.dumps((Program(folder), {0: "a"})))


@attack(
    "LangChain FAISS",
    "reach a program through a name with dots in an allowed module",
    trust_pickle=True,
)
def pickle_dotted(folder):
    code = b"\x80\x04\x8c\x13langchain.documents\x8c\x13Document.__class__.x\x93)R."
    return langchain(folder, code)


@attack("LangChain FAISS", "allocate 2^62 bytes for a text that is not there", trust_pickle=True)
def pickle_length(folder):
    return langchain(folder, b"\x80\x04\x8d" + struct.pack("<Q", 1 << 62) + b"x.")


@attack("LangChain FAISS", "end the stack with lists in lists", trust_pickle=True)
def pickle_deep(folder):
    return langchain(folder, b"\x80\x04" + b"]" * 200_000 + b"a" * 199_999 + b".")


@attack("LangChain FAISS", "grow by doubling a list by itself until memory ends", trust_pickle=True)
def pickle_doubling(folder):
    code = b"\x80\x04](K\x01e" + b"\x94" + b"".join(b"](h\x00h\x00e\x94" for _ in range(60)) + b"."
    return langchain(folder, code)


# ----------------------------------------------------------------------------------------- SQLite ---


def sqlite():
    from ragfile.exchange.stores.sqlite_vec import library

    return library()


VECTORS = "CREATE VIRTUAL TABLE chunk_vectors USING vec0(embedding float[2])"


def database(folder, *statements):
    import sqlite_vec

    path = folder / "x.db"
    with sqlite().connect(path) as opened:
        opened.enable_load_extension(True)
        sqlite_vec.load(opened)
        for statement in statements:
            opened.execute(statement)
    opened.close()
    return path


def schema(path, name, sql, kind="view"):
    """Put an entry into the schema that SQLite would not make itself."""
    with sqlite().connect(path) as opened:
        opened.execute("PRAGMA writable_schema = ON")
        opened.execute(
            "INSERT INTO sqlite_master(type, name, tbl_name, rootpage, sql) VALUES (?, ?, ?, 0, ?)",
            (kind, name, name, sql),
        )
    opened.close()
    return path


ENDLESS = "WITH RECURSIVE n(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM n)"


@attack(
    "sqlite-vec", "count without end in a view that has the name of a table", needs="sqlite_vec"
)
def sqlite_endless(folder):
    return database(
        folder, "CREATE TABLE note (key TEXT, value TEXT)",
        f"CREATE VIEW documents AS {ENDLESS} SELECT x AS body, x AS id FROM n",
        f"CREATE VIEW chunks AS {ENDLESS} SELECT x AS text FROM n",
        VECTORS,
    )  # fmt: skip


@attack("sqlite-vec", "make a gigabyte for each row of a view", needs="sqlite_vec")
def sqlite_zeroblob(folder):
    rows = "(SELECT 1 AS n UNION ALL SELECT 2 UNION ALL SELECT 3 UNION ALL SELECT 4)"
    return database(
        folder, "CREATE TABLE note (key TEXT, value TEXT)",
        f"CREATE VIEW documents AS SELECT zeroblob(1000000000) AS body FROM {rows}",
        "CREATE VIEW chunks AS SELECT 1 AS row_id, 'a' AS document_id, 'b' AS chunk_key",
        f"CREATE VIEW chunk_vectors AS SELECT n AS rowid, zeroblob(1000000000) AS embedding FROM {rows}",
    )  # fmt: skip


@attack("sqlite-vec", "load a library of the attacker by a view", needs="sqlite_vec")
def sqlite_extension(folder):
    return database(
        folder, "CREATE TABLE note (key TEXT, value TEXT)",
        f"CREATE VIEW documents AS SELECT load_extension('{folder}/evil.so') AS body",
        "CREATE TABLE chunks (row_id, document_id, chunk_key, text, i_start, i_end)",
        "CREATE TABLE chunk_vectors (embedding BLOB)",
    )  # fmt: skip


@attack(
    "sqlite-vec",
    "read shadow tables of a vec0 table that name rows which are not there",
    needs="sqlite_vec",
)
def sqlite_shadow(folder):
    path = database(folder, "CREATE TABLE words (id INTEGER PRIMARY KEY, text TEXT)",
                    "INSERT INTO words VALUES (1, 'a')")  # fmt: skip
    for part in ("chunks", "rowids", "vector_chunks00", "info"):
        with sqlite().connect(path) as opened:
            opened.execute(
                f"CREATE TABLE vec_{part} (chunk_id INTEGER, rowid_ BLOB, chunk_offset, size, validity, rowids, vectors, key, value)"
            )
            opened.execute(
                f"INSERT INTO vec_{part} VALUES (1, zeroblob(9), 1 << 60, 1 << 60, x'ff', x'ff', x'ff', 'a', 'b')"
            )
        opened.close()
    return schema(
        path, "vec", "CREATE VIRTUAL TABLE vec USING vec0(embedding float[1048576])", "table"
    )


@attack("sqlite-vec", "read pages that a damaged tree names again and again", needs="sqlite_vec")
def sqlite_cycle(folder):
    path = database(folder, "CREATE TABLE note (key TEXT, value TEXT)",
                    "CREATE TABLE documents (body TEXT)", "CREATE TABLE chunks (text TEXT)",
                    "CREATE TABLE chunk_vectors (embedding BLOB)")  # fmt: skip
    raw = bytearray(path.read_bytes())
    for page in range(1, len(raw) // 4096):
        raw[page * 4096 : page * 4096 + 12] = struct.pack(">BHHHBI", 5, 0, 0, 4096, 0, page + 1)
    path.write_bytes(raw)
    return path


# ----------------------------------------------------------------------------------------- DuckDB ---


def duck(folder, *statements):
    import duckdb

    (folder / "private.txt").write_text(f"text\n{SECRET}\n")
    path = folder / "x.duckdb"
    opened = duckdb.connect(str(path))
    for statement in statements:
        opened.execute(statement)
    opened.close()
    return path


@attack(
    "DuckDB", "copy a private file of the reader into the converted file, by a view", needs="duckdb"
)
def duckdb_reads(folder):
    return duck(
        folder,
        f"CREATE VIEW documents AS SELECT text, [1.0::FLOAT, 2.0::FLOAT] AS embedding FROM read_csv('{folder}/private.txt')",
    )


@attack("DuckDB", "count without end in a view", needs="duckdb")
def duckdb_endless(folder):
    return duck(
        folder,
        "CREATE VIEW documents AS WITH RECURSIVE n(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM n) "
        "SELECT x::VARCHAR AS text, [1.0::FLOAT] AS embedding FROM n",
    )


@attack("DuckDB", "unpack a megabyte to a million texts of a kilobyte each", needs="duckdb")
def duckdb_rows(folder):
    return duck(
        folder,
        "CREATE TABLE documents AS SELECT repeat('x', 1000) AS text, [1.0::FLOAT] AS embedding FROM range(1100000)",
    )


# ---------------------------------------------------------------------------------------- Parquet ---


def parquet(folder, raw):
    (folder / "x.parquet").write_bytes(raw)
    return folder / "x.parquet"


@attack("Parquet", "read a footer of 4 GB that is not there", needs="pyarrow")
def parquet_footer(folder):
    return parquet(folder, b"PAR1" + bytes(64) + b"\xff\xff\xff\x7fPAR1")


@attack("Parquet", "end the stack by structures in structures of the footer", needs="pyarrow")
def parquet_deep(folder):
    footer = b"\x1c" * 100_000
    return parquet(folder, b"PAR1" + footer + struct.pack("<I", len(footer)) + b"PAR1")


@attack("Parquet", "unpack 100 KB to four million texts of a kilobyte each", needs="pyarrow")
def parquet_bomb(folder):
    import numpy as np
    import pyarrow
    from pyarrow import parquet as writer

    count = 1_000_000
    codes = pyarrow.array(np.zeros(count, np.int32))
    text = pyarrow.DictionaryArray.from_arrays(codes, pyarrow.array(["x" * 1000]))
    rows = pyarrow.ListArray.from_arrays(
        pyarrow.array(np.arange(count + 1, dtype=np.int32) * 8),
        pyarrow.array(np.zeros(count * 8, np.float32)),
    )
    table = pyarrow.table({"text": text, "embedding": rows})
    with writer.ParquetWriter(folder / "x.parquet", table.schema, compression="zstd") as out:
        for _ in range(4):
            out.write_table(table)
    return folder / "x.parquet"


# ------------------------------------------------------------------------------------------- JSON ---


def lines(folder, raw):
    (folder / "x.jsonl").write_bytes(raw)
    return folder / "x.jsonl"


@attack("JSON lines", "end the stack of a JSON parser")
def jsonl_deep(folder):
    return lines(folder, b'{"text": "a", "embedding": ' + b"[" * 500_000 + b"]" * 500_000 + b"}\n")


@attack("JSON lines", "convert a number of a million digits")
def jsonl_number(folder):
    return lines(folder, b'{"text": "a", "embedding": [' + b"9" * 1_000_000 + b"]}\n")


@attack("JSON lines", "store numbers that are none")
def jsonl_infinite(folder):
    return lines(folder, b'{"text": "a", "embedding": [1e999, NaN]}\n')


@attack("CSV", "allocate a vector of ten million numbers beside one of two")
def csv_vector(folder):
    (folder / "x.csv").write_text('text,embedding\na,"[1,2]"\nb,"[' + "1," * 3_000_000 + '1]"\n')
    return folder / "x.csv"


@attack("CSV", "never end a quotation")
def csv_quote(folder):
    (folder / "x.csv").write_text('text,embedding\n"' + "a\n" * 2_000_000)
    return folder / "x.csv"


# ------------------------------------------------------------------------------------------ txtai ---


def archived(folder, members):
    path = folder / "x.tar.gz"
    with tarfile.open(path, "w:gz") as out:
        for member, body in members:
            member.size = len(body)
            out.addfile(member, io.BytesIO(body))
    return path


def linked(name, target, kind=tarfile.SYMTYPE):
    member = tarfile.TarInfo(name)
    member.type, member.linkname = kind, target
    return member


CONFIG = (
    tarfile.TarInfo("config.json"),
    b'{"format": "json", "backend": "faiss", "dimensions": 2}',
)


@attack("txtai archive", "write a file outside of the folder it is unpacked to")
def tar_climbs(folder):
    return archived(
        folder, [CONFIG, (tarfile.TarInfo(f"../../../../../../{folder}/{OWNED}"), b"x")]
    )


@attack("txtai archive", "read a private file through a symbolic link")
def tar_link(folder):
    (folder / "private.txt").write_text(SECRET)
    return archived(folder, [CONFIG, (linked("documents", f"{folder}/private.txt"), b"")])


@attack("txtai archive", "wait for ever on a pipe, or read a device without end")
def tar_device(folder):
    device = linked("documents", "", tarfile.CHRTYPE)
    device.devmajor, device.devminor = 1, 5
    return archived(folder, [CONFIG, (device, b""), (linked("ids", "", tarfile.FIFOTYPE), b"")])


@attack("txtai archive", "unpack 180 KB to 180 MB")
def zip_bomb(folder):
    path = folder / "x.zip"
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED, compresslevel=9) as out:
        out.writestr("config.json", CONFIG[1])
        for name in ("documents", "embeddings", "ids"):
            out.writestr(name, bytes(60_000_000))
    return path


@attack("txtai archive", "run a program that the configuration pickles")
def txtai_pickle(folder):
    path = folder / "store"
    path.mkdir()
    (path / "config").write_bytes(pickle.dumps(Program(folder)))
    (path / "embeddings").write_bytes(b"x")
    return path


# ----------------------------------------------------------------------------------------- Qdrant ---


@attack("Qdrant", "run a program that is pickled as a point", needs="qdrant_client")
def qdrant_program(folder):
    path = folder / "store" / "collection" / "kb"
    path.mkdir(parents=True)
    vectors = {"size": 2, "distance": "Cosine"}
    told = {"collections": {"kb": {"vectors": vectors}}, "aliases": {}}
    (folder / "store" / "meta.json").write_text(json.dumps(told))
    with sqlite3.connect(path / "storage.sqlite") as opened:
        opened.execute("CREATE TABLE points (id TEXT PRIMARY KEY, point BLOB)")
        opened.execute("INSERT INTO points VALUES ('1', ?)", (pickle.dumps(Program(folder)),))
    opened.close()
    return folder / "store"


# ----------------------------------------------------------------------------------- mmap-ninja ---


@attack("mmap-ninja", "name a type of numbers that is a program", needs="mmap_ninja")
def ninja_type(folder):
    path = folder / "store"
    for name in ("vectors", "texts", "chunks", "documents"):
        (path / name).mkdir(parents=True)
        for part in ("dtype", "shape", "order", "type", "data", "starts", "ends"):
            (path / name / f"{part}.ninja").write_bytes(b"__import__('os').system('true')")
    (path / "note.json").write_text("{}")
    return path


# ------------------------------------------------------------------------------------------ .ragmd ---


def ragmd(folder, front):
    """A whole .ragmd with further lines in its front."""
    from oracles.ragmd_examples import collection, rendered

    path = folder / "x.ragmd"
    path.write_text(rendered(collection()).decode().replace("\n---\n", f"\n{front}---\n", 1))
    return path


@attack(".ragmd", "multiply a text by names of names in its front (a billion laughs)")
def ragmd_laughs(folder):
    levels = "".join(f"a{n}: &a{n} [{', '.join([f'*a{n - 1}'] * 9)}]\n" for n in range(1, 12))
    return ragmd(folder, f"a0: &a0 [lol]\n{levels}")


@attack(".ragmd", "make a Python object of a tag in its front")
def ragmd_tag(folder):
    return ragmd(folder, f"x: !!python/object/apply:open ['{folder}/{OWNED}', 'w']\n")


# --------------------------------------------------------------------------------------- .ragfile ---


@attack(".ragfile", "walk ten megabytes of zeros backwards in search of a footer, byte by byte")
def ragfile_tail(folder):
    (folder / "x.ragfile").write_bytes(b"RAGFILE\x01" + bytes(10_000_000))
    return folder / "x.ragfile"


@attack(".ragfile", "find a footer's beginning at every eighth byte of ten megabytes")
def ragfile_footers(folder):
    (folder / "x.ragfile").write_bytes(b"RAGFILE\x01" * 1_300_000)
    return folder / "x.ragfile"


def table():
    """Return README.md."""
    head = (
        "# Evil files\n\nWhat each file would do to a reader that trusts it. `evil_files.py` makes them, and\n"
        "`test_evil_files.py` converts each in a process with 20 seconds of CPU and 1 GB of memory: it must be\n"
        "refused with one error, run nothing, and read no other file. The files that break a rule of the format\n"
        "are those of `spec/vectors`, read under the same limits.\n\n"
        "| file | of | it would |\n|---|---|---|\n"
    )
    rows = (f"| `{one.name}` | {one.kind} | {one.would} |\n" for one in ATTACKS)
    return head + "".join(rows)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--write", action="store_true")
    parser.add_argument("--to", type=Path)
    args = parser.parse_args()
    if args.write:
        (HERE / "README.md").write_text(table())
    for one in ATTACKS if args.to else ():
        folder = args.to / one.name
        folder.mkdir(parents=True)
        print(one.make(folder))


if __name__ == "__main__":
    sys.exit(main())
