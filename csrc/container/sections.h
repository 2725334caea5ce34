/* sections.h - the sections that this build has code for. Readers skip any other, unless its flags
 * forbid that.
 *
 * Made by tools/sections.py from spec/sections.toml. Do not edit. */
#ifndef RAG_SECTIONS_H
#define RAG_SECTIONS_H

/* clang-format off */
static const char *const section_names[] = {
    "vector",
    "keyword",
    "rag.keys",
    "rag.shadow",
    "rag.planes",
    "rag.clusters",
    "rag.clustered",
    "rag.terms",
    "rag.postings",
    "rag.positions",
    "rag.titles",
    "rag.chunks",
    "rag.documents",
    "rag.ids",
    "rag.text",
    "rag.meta",
    "rag.bare",
    "rag.sample",
    "rag.fine",
    "rag.columns",
    "rag.original",
    "graph",
    "hypergraph",
    "rag.sparse",
    "rag.tombs",
    "rag.deleted",
    "rag.gone",
    "rag.sections",
    "rag.config",
    "rag.merged",
    "rag.stale",
    "rag.hidden",
    "rag.past",
    "rag.origin",
    "rag.frequencies",
    "rag.parity",
    "rag.parity.step",
    "rag.seal",
    "rag.signatures",
};

/* The names of a field's own sections end in its number. */
static const char *const numbered_section_names[] = {
    "rag.terms.",
    "rag.postings.",
};
/* clang-format on */

#endif
