"""The canonical steps take a search's hits as they are, and give what they give for candidates."""

import ragfile
from ragfile.records import Candidate


def test_hits_are_fused_reranked_and_packed_like_candidates(tmp_path):
    with ragfile.create(tmp_path / "kb") as w:
        w.add(
            [
                {
                    "doc_id": f"d{i}",
                    "chunk_index": 0,
                    "content": f"rotate the key {i}. " * 3,
                    "metadata": {"n": i},
                }
                for i in range(5)
            ]
        )
    rf = ragfile.open(tmp_path / "kb")
    hits, others = rf.search("rotate key", mode="bm25", k=5), rf.search("key 3", mode="bm25", k=3)
    plain = [
        Candidate(h.doc_id, h.chunk_index, h.text, h.score, h.tags, h.metadata, h.start, h.end)
        for h in hits
    ]
    assert [Candidate.of(h) for h in hits] == plain
    more = [Candidate.of(h) for h in others]
    assert ragfile.fuse([hits, others]) == ragfile.fuse([plain, more])
    assert ragfile.rerank("key 3", hits) == ragfile.rerank("key 3", plain)
    assert ragfile.compress("key 3", hits) == ragfile.compress("key 3", plain)
