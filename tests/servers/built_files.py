"""Files that the tests of servers serve."""

import numpy as np

import ragfile


def build_pages(folder, pages):
    """Write pages by name below a folder, and return the file that is built of them."""
    for name, text in pages.items():
        path = folder / "docs" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    ragfile.build(folder / "docs", folder / "kb.ragfile")
    return folder / "kb.ragfile"


def large_file(path):
    """A file of 3 MB, which no single window covers."""
    rng = np.random.default_rng(6)
    with ragfile.create(path, dim=64, metric="cosine") as w:
        chunks = [
            {"doc_id": f"d{i:05d}", "chunk_index": 0, "content": f"word{i % 97} text{i}"}
            for i in range(8000)
        ]
        w.add(chunks, rng.standard_normal((8000, 64)).astype(np.float32))
    return path
