"""Measure filters and deletions of LlamaIndex's vector store over many nodes.

    python bench/adapter_filters.py [--nodes 50000]

A node has a random vector, a document of ten nodes, and two fields. CPU milliseconds, the best of some rounds;
llama-index-core is needed.
"""

import argparse
import tempfile
import time

import numpy as np
from llama_index.core.schema import NodeRelationship, RelatedNodeInfo, TextNode
from llama_index.core.vector_stores.types import MetadataFilter, MetadataFilters, VectorStoreQuery

from ragfile.adapters.llama_index import RagfileVectorStore


def node(i, vector):
    document = {NodeRelationship.SOURCE: RelatedNodeInfo(node_id=f"doc{i // 10}")}
    fields = {"n": i % 1000, "kind": "ab"[i % 2]}
    return TextNode(
        id_=f"n{i}", text=f"node {i}", metadata=fields, embedding=vector, relationships=document
    )


def best(call, rounds=7):
    """Return the CPU milliseconds of the fastest of some calls."""
    found = []
    for _ in range(rounds):
        start = time.process_time_ns()
        call()
        found.append((time.process_time_ns() - start) / 1e6)
    return min(found)


def main():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--nodes", type=int, default=50_000)
    args = parser.parse_args()
    vectors = np.random.default_rng(1).standard_normal((args.nodes, 64)).tolist()
    with tempfile.TemporaryDirectory() as folder:
        store = RagfileVectorStore(path=f"{folder}/kb.ragfile")
        store.add([node(i, vector) for i, vector in enumerate(vectors)])

        def ask(**how):
            store.query(VectorStoreQuery(vectors[0], similarity_top_k=10, **how))

        def filters(key, value):
            return MetadataFilters(filters=[MetadataFilter(key=key, value=value)])

        print(f"{args.nodes:,} nodes, CPU ms")
        print(f"no filter                 {best(ask):9.2f}")
        print(f"a filter, .1 % pass       {best(lambda: ask(filters=filters('n', 7))):9.2f}")
        print(f"a filter, half pass       {best(lambda: ask(filters=filters('kind', 'a'))):9.2f}")
        print(f"documents                 {best(lambda: ask(doc_ids=['doc3', 'doc7'])):9.2f}")
        print(
            f"nodes of a filter         {best(lambda: store.get_nodes(filters=filters('n', 7))):9.2f}"
        )
        print(f"nodes by id               {best(lambda: store.get_nodes(['n1', 'n9'])):9.2f}")
        numbers = iter(range(100))
        print(f"delete a document         {best(lambda: store.delete(f'doc{next(numbers)}')):9.2f}")


if __name__ == "__main__":
    main()
