"""Write a folder of this place with the installed package, before a release: `python tests/releases/write.py`.

It has a file as that version writes it, and the answers that it gave. Every later version must read the file and
give the same answers, so a folder that a release has is never written again.
"""

import json
import sys
from pathlib import Path

import ragfile

HERE = Path(__file__).resolve().parent
QUESTIONS = ("how do I rotate the keys?", "herons in water", "Schlüssel", "restart a pod")
MODES = ("hybrid", "bm25", "vector")
DOCUMENTS = [
    {"id": "guide/keys.md", "metadata": {"year": 2024, "lang": "en"}, "tags": ["guide"],
     "text": "# Keys\n\nTo rotate the keys, run the rotation job.\n\n## Old keys\n\nThey stay for ten years."},
    {"id": "guide/pods.md", "metadata": {"year": 2021, "lang": "en"}, "tags": ["guide"],
     "text": "# Pods\n\nRestart a pod by deleting it. See [the keys](keys.md). Its name is kept."},
    {"id": "birds.txt", "metadata": {"lang": "en"}, "tags": [],
     "text": "Herons stand in shallow water, and wait. Ducks swim."},
    {"id": "de/schlüssel.md", "metadata": {"year": 2020, "lang": "de"}, "tags": ["guide"],
     "text": "# Schlüssel\n\nDie Schlüssel werden jedes Jahr erneuert. Größe: 🗝️."},
]  # fmt: skip


def answers(path):
    """Return what the file answers: ids and scores of each question in each mode, and its documents."""
    with ragfile.open(path) as rf:
        found = {
            f"{mode}: {question}": [
                [hit.id, float(hit.score).hex()]
                for hit in rf.search(question, 5, mode=mode, cache=False)
            ]
            for mode in MODES
            for question in QUESTIONS
        }
        documents = {d.id: [d.text, d.metadata, list(d.tags)] for d in rf.documents()}
        filtered = [hit.id for hit in rf.search("keys", 5, where={"year": {"$gte": 2021}})]
    return {"found": found, "documents": documents, "filtered": filtered}


def write(folder):
    """Write the file, in three commits and with parity, and its answers."""
    folder.mkdir()
    path = folder / "kb.ragfile"
    with ragfile.create(path, embedder="default", created=1, parity=5) as writer:
        writer.add_documents(DOCUMENTS[:3])
    with ragfile.edit(path, message="a page in German") as writer:
        writer.add_documents(DOCUMENTS[3:])
    with ragfile.edit(path, message="no ducks") as writer:
        writer.upsert([{**DOCUMENTS[2], "text": "Herons stand in shallow water, and wait."}])
    lines = json.dumps(answers(path), ensure_ascii=False, indent=1, sort_keys=True)
    (folder / "answers.json").write_text(f"{lines}\n", "utf-8")


if __name__ == "__main__":
    target = HERE / ragfile.__version__
    if target.exists():
        sys.exit(f"{target} is there: a released folder is kept. Delete one that was not released")
    write(target)
    print(target)
