"""Collections and texts that several test modules use."""

import base64

import numpy as np

from ragfile.exchange.collection import Collection
from ragfile.exchange.faiss.index import Index
from ragfile.exchange.ragmd import ragmd_reader

EPOCH = "2026-02-14T10:00:00Z"

MINIMAL = """---
format_version: "1.0"
model_name: "nomic-embed-text"
embedding_dim: 8
vector_count: 3
document_count: 1
index_type: "IndexFlatIP"
created_at: "2026-02-14T10:00:00Z"
updated_at: "2026-02-14T10:00:00Z"
---

## Documents

| Document ID | Source | Chunks | Title |
|-------------|--------|--------|-------|
| doc-001 | example.txt | 3 | Sample Document |

## Chunks

```json
[
  {"faiss_id": 0, "document_id": "doc-001", "chunk_key": "chunk-0"},
  {"faiss_id": 1, "document_id": "doc-001", "chunk_key": "chunk-1"},
  {"faiss_id": 2, "document_id": "doc-001", "chunk_key": "chunk-2"}
]
```

## Document Metadata

```json
{
  "doc-001": {
    "id": "doc-001",
    "source": "example.txt",
    "full_text": "This is a sample document with multiple chunks for testing.",
    "content": {},
    "chunks": {
      "chunk-0": {"i_start": 0, "i_end": 20, "faiss_id": 0},
      "chunk-1": {"i_start": 20, "i_end": 40, "faiss_id": 1},
      "chunk-2": {"i_start": 40, "i_end": 59, "faiss_id": 2}
    }
  }
}
```

## Vectors

```base64
VECTORS
```
"""


def minimal(vectors=None):
    """The smallest example file, with a real index of three rows (or the given text) in place of its base64."""
    if vectors is None:
        rows = np.arange(24, dtype=np.float32).reshape(3, 8) / 8
        vectors = base64.b64encode(Index.of(rows).data.tobytes()).decode()
    return MINIMAL.replace("VECTORS", vectors)


def collection(documents=3, chunks=4, dim=16, seed=0, metric="ip"):
    """A small regular collection."""
    random = np.random.default_rng(seed)
    refs, held = [], {}
    for number in range(documents):
        name, text, spans = (
            f"doc-{number:03d}",
            f"Document {number}. " + "some words go here. " * 8,
            {},
        )
        for chunk in range(chunks):
            spans[f"chunk-{chunk}"] = {
                "i_start": 20 * chunk,
                "i_end": 20 * chunk + 20,
                "faiss_id": len(refs),
            }
            refs.append({"document_id": name, "chunk_key": f"chunk-{chunk}"})
        content = {"title": f"Title {number}", "authors": ["Smith, J."]}
        held[name] = {"id": name, "source": f"{name}.txt", "content": content, "full_text": text}
        held[name].update(metadata={"year": 2000 + number}, chunks=spans)
    vectors = random.standard_normal((documents * chunks, dim), np.float32)
    return Collection(Index.of(vectors, metric), refs, held, "a-model", EPOCH, EPOCH)


def rendered(of):
    """The bytes that save would write."""
    out = bytearray()
    ragmd_reader.render(of, out.extend)
    return bytes(out)
