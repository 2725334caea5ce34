"""Mistakes that a type checker finds: each line with a comment, by the checkers that it names, and no other line."""

from pathlib import Path

import ragfile
from ragfile.qa import prepare
from ragfile.types import Where

path = Path("kb.ragfile")
rf = ragfile.open(path)
hit = rf.search("pods")[0]

ragfile.serch(path)  # wrong: no such function
print(hit.scoer)  # wrong: no such field
rf.search("pods", mode="hybrdi")  # wrong: no such mode
rf.search("pods", kay=5)  # wrong: no such option
rf.search()  # wrong: no question
rf.search("pods", k="5")  # wrong: k is a number
rf.search("pods", tags_any="ops")  # wrong: a string is not a list of tags
rf.search("pods", where={"year": {"$gtee": 2020}})  # wrong: no such operator
rf.search("pods", fusion="rff")  # wrong: no such fusion
rf.ask("pods", modle="openai:m")  # wrong: no such option
rf.ask("pods", temperature="hot")  # wrong: a number
print(rf.ask("pods", stream=True).text)  # wrong: events are no answer
print(rf.search_batch(["pods"])[0].text)  # wrong: Hits are a list
print(rf.document("a").text)  # wrong: the document might not be there
rf.file.pairs("vectors")  # wrong: the pairs are in "vector" and "keyword"
ragfile.open(path, embeder="default")  # wrong: no such option
ragfile.open(path, dialect="loose")  # wrong: no such dialect
ragfile.open(path, dialect="strict").search("pods")  # wrong: a 0.1.0 file has no search
ragfile.build(["docs"], path, precision=8)  # wrong: 16 or 32 bits
ragfile.build(["docs"], path, analysis="english")  # wrong: an Analysis
ragfile.build(["docs"])  # wrong: no target
ragfile.sync(path, ["docs"], dryrun=True)  # wrong: no such option
ragfile.create(path, metric="euclid")  # wrong: no such metric
ragfile.convert(path, "kb.out", to="markdown")  # wrong: no such format
ragfile.write_pairs(path, byteorder="middle")  # wrong: no such byte order
ragfile.Policy("wrds")  # wrong: no such policy
ragfile.Chunk("a", "0", "text")  # wrong: an index is a number
ragfile.fuse([[]], "rrff")  # wrong: no such method
ragfile.log(path)[0]["text"]  # wrong: no such key
prepare(rf, "pods", modes="bm25")  # wrong: no such option

with ragfile.edit(path) as writer:
    writer.delte(["a"])  # wrong: no such method
    writer.upsert("a")  # wrong: a document, not its id
with ragfile.create(path) as writer2:
    writer2.add(["text"])  # wrong: chunks, not texts


class NoModel:
    def embed(self, texts: list[str]) -> list[list[float]]:
        return [[1.0] for _ in texts]


ragfile.create(path, embedder=NoModel())  # wrong: an embedder has a model and roles
filters: Where = {"year": {"$in": 2020}}  # wrong: $in takes a list
