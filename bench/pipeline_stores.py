"""The stores of pipeline.py. Each builds 100,000 passages into a folder, opens it and searches it.

    build(passages, vectors, folder)     make everything, indexes included
    open(folder)                         get ready for questions
    ask(text, vector) -> [passage text]  the K best by its own hybrid search, with their texts
    near(vector) -> [row]                the K nearest by vector alone, for recall
    batch(texts, vectors, threads)       only if the store has such a call
    variants() -> {name: ask}            other ways to ask it
    built_as                             another store's name, if this one reads its build

For a store without a fusion of its own, the ranks of CANDIDATES rows of each retriever are fused in
Python.
"""

import json
import os

from pipeline_sql import CANDIDATES, DuckDB, K, SqliteVec, arrow_vectors, reciprocal_ranks, words_of

HALF = {"title": {"$gte": "M"}}


class Ragfile:
    """Calibrated fusion of 50 + 50 candidates, exact."""

    package = "ragfile"

    def build(self, passages, vectors, folder):
        from ragfile.write.writer import Writer

        with Writer(os.path.join(folder, "kb.ragfile"), embedder="default") as w:
            for first in range(0, len(passages), 1000):
                chunks = [
                    {"doc_id": p["path"], "chunk_index": p["chunk"], "content": p["text"], "metadata": {"title": p["title"]}}
                    for p in passages[first : first + 1000]
                ]  # fmt: skip
                w.add(chunks, vectors[first : first + 1000])
        with open(os.path.join(os.path.dirname(folder), "keys.json"), "w") as file:
            json.dump([f"{p['path']}#{p['chunk']}" for p in passages], file)

    def open(self, folder):
        import ragfile

        self.folder, self.path = folder, os.path.join(folder, "kb.ragfile")
        self.file = ragfile.open(self.path)

    def ask(self, text, vector):
        return [hit.text for hit in self.file.search(text, K, vector=vector, cache=False)]

    def variants(self):
        """Other ways to ask: embed the text first, or filter to about half of the passages."""
        return {
            "from text": lambda text, vector: self.file.search(text, K, cache=False),
            "filtered": lambda text, vector: self.file.search(
                text, K, vector=vector, cache=False, where=HALF
            ),
        }

    def batch(self, texts, vectors, threads):
        return self.file.search_batch(texts, K, vectors=vectors, threads=threads)

    def near(self, vector):
        if not hasattr(self, "rows"):
            with open(os.path.join(os.path.dirname(self.folder), "keys.json")) as file:
                self.rows = {key: row for row, key in enumerate(json.load(file))}
        return [
            self.rows[self.file.hit(int(row)).id]
            for row in self.file.nearest(vector[None], K)[0][0]
        ]

    def sections(self):
        return {e["name"]: e["size"] for e in self.file.file.entries}


class TantivyUsearch:
    """tantivy's BM25 and usearch's HNSW with its own defaults, ranks fused in Python.

    One segment, so that document numbers are row numbers and no column has to be read for them.
    """

    package = "tantivy"

    def build(self, passages, vectors, folder):
        import numpy as np
        import tantivy
        from usearch.index import Index

        schema = (
            tantivy.SchemaBuilder()
            .add_text_field("text", stored=True, tokenizer_name="en_stem")
            .build()
        )
        os.mkdir(os.path.join(folder, "words"))
        index = tantivy.Index(schema, path=os.path.join(folder, "words"))
        writer = index.writer(heap_size=1_000_000_000, num_threads=1)
        for passage in passages:
            writer.add_document(tantivy.Document(text=passage["text"]))
        writer.commit()
        writer.wait_merging_threads()
        near = Index(ndim=vectors.shape[1], metric="ip", dtype="f32")
        near.add(np.arange(len(vectors)), vectors, threads=1)
        near.save(os.path.join(folder, "near.usearch"))

    def open(self, folder):
        import tantivy
        from usearch.index import Index

        self.address, self.index = (
            tantivy.DocAddress,
            tantivy.Index.open(os.path.join(folder, "words")),
        )
        self.searcher = self.index.searcher()
        if self.searcher.num_segments != 1:
            raise RuntimeError(
                f"{self.searcher.num_segments} segments: document numbers are not the passages' own"
            )
        self.vectors = Index.restore(os.path.join(folder, "near.usearch"), view=True)

    def ask(self, text, vector):
        query = self.index.parse_query(words_of(text), ["text"])
        found = [
            address.doc for _, address in self.searcher.search(query, CANDIDATES, count=False).hits
        ]
        near = self.vectors.search(vector, CANDIDATES, threads=1).keys.tolist()
        return [
            self.searcher.doc(self.address(0, row))["text"][0]
            for row in reciprocal_ranks(near, found)
        ]

    def near(self, vector):
        return self.vectors.search(vector, K, threads=1).keys.tolist()


class LanceDB:
    """Its own hybrid search and fusion (RRF), a default IVF-PQ index, its full-text index."""

    package = "lancedb"
    index = "IVF_PQ"

    def build(self, passages, vectors, folder):
        import lancedb
        import pyarrow

        columns = {"id": list(range(len(passages))), "text": [p["text"] for p in passages], "vector": arrow_vectors(vectors)}  # fmt: skip
        table = lancedb.connect(folder).create_table("kb", pyarrow.table(columns))
        table.create_fts_index("text")
        table.create_index(metric="cosine", index_type=self.index)

    def open(self, folder):
        import lancedb

        self.table = lancedb.connect(folder).open_table("kb")

    def ask(self, text, vector):
        found = self.table.search(query_type="hybrid").vector(vector).text(words_of(text)).limit(K)
        return [row["text"] for row in found.select(["text"]).to_list()]

    def near(self, vector):
        return [
            row["id"]
            for row in self.table.search(vector)
            .distance_type("cosine")
            .limit(K)
            .select(["id"])
            .to_list()
        ]


class LanceRefined(LanceDB):
    """The IVF-PQ index of `lancedb`, 100 lists searched, ten times the rows scored exactly."""

    built_as = "lancedb"

    def ask(self, text, vector):
        query = self.table.search(query_type="hybrid").vector(vector).text(words_of(text)).limit(K)
        return [
            row["text"] for row in query.nprobes(100).refine_factor(10).select(["text"]).to_list()
        ]

    def near(self, vector):
        query = (
            self.table.search(vector)
            .distance_type("cosine")
            .limit(K)
            .nprobes(100)
            .refine_factor(10)
        )
        return [row["id"] for row in query.select(["id"]).to_list()]


class LanceHNSW(LanceDB):
    """The same with its graph index."""

    index = "IVF_HNSW_SQ"


class Chroma:
    """Vectors only (HNSW): it has no BM25 of its own on one machine."""

    package = "chromadb"

    def client(self, folder):
        import chromadb

        return chromadb.PersistentClient(
            folder, settings=chromadb.Settings(anonymized_telemetry=False)
        )

    def build(self, passages, vectors, folder):
        kept = self.client(folder).create_collection("passages", metadata={"hnsw:space": "cosine"})
        for first in range(0, len(passages), 5000):
            part = passages[first : first + 5000]
            ids, texts = [str(first + i) for i in range(len(part))], [p["text"] for p in part]
            kept.add(ids=ids, embeddings=vectors[first : first + 5000], documents=texts)

    def open(self, folder):
        self.kept = self.client(folder).get_collection("passages")

    def ask(self, text, vector):
        return self.kept.query(query_embeddings=[vector], n_results=K)["documents"][0]

    def near(self, vector):
        return [
            int(row)
            for row in self.kept.query(query_embeddings=[vector], n_results=K, include=[])["ids"][0]
        ]


class Memvid:
    """memvid-sdk with the same vectors, and only the first few passages.

    A file ends at 50 MB without a paid plan, and is slow to build.
    """

    package = "memvid-sdk"
    most = 200

    def build(self, passages, vectors, folder):
        import memvid_sdk

        kept = memvid_sdk.create(os.path.join(folder, "kb.mv2"), enable_vec=True, enable_lex=True)
        named = {"provider": "given", "model": "given", "dimension": vectors.shape[1]}
        requests = [
            {"title": str(i), "label": "passage", "text": p["text"]} for i, p in enumerate(passages)
        ]
        kept.put_many(requests, embeddings=vectors.tolist(), embedding_identity=named)
        kept.commit()
        kept.close()

    def open(self, folder):
        import memvid_sdk

        path = os.path.join(folder, "kb.mv2")
        self.kept = memvid_sdk.use(
            "basic", path, mode="open", enable_vec=True, enable_lex=True, read_only=True
        )

    def find(self, text, vector, mode):
        return self.kept.find(
            text, k=K, mode=mode, query_embedding=vector.tolist(), snippet_chars=100_000
        )["hits"]

    def ask(self, text, vector):
        return [hit["snippet"] for hit in self.find(words_of(text), vector, "auto")]

    def near(self, vector):
        return [int(hit["title"]) for hit in self.find("passage", vector, "sem")]


STORES = {
    "ragfile": Ragfile, "tantivy+usearch": TantivyUsearch, "lancedb": LanceDB, "lancedb-refined": LanceRefined, "lancedb-hnsw": LanceHNSW, "duckdb": DuckDB,
    "sqlite-vec": SqliteVec, "chroma": Chroma, "memvid": Memvid,
}  # fmt: skip
