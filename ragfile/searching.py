"""From a question to passages: the legs that a mode asks for, one fusion, and what a caller wants to know of them.

    query ─ [vector leg | bm25 leg] under one filter ─ union, both exact scores for every row ─ fusion ─ hits

A leg that cannot run (no vectors in the file, no embedder, a provider that is down) is left out, and `degraded` says why.
"""

import logging
import time
from collections import OrderedDict

import numpy as np

from . import fusion, legs, reranking
from .archive import Archive
from .embedding import embedder_of_file, open_embedder
from .errors import ModelError, ProviderError
from .records import Hits

MODES = ("hybrid", "vector", "bm25", "keyword")
SAMPLE = 1024
REMEMBERED = 256
STATIC_WEIGHT, TRANSFORMER_WEIGHT = 6.0, 4.0

log = logging.getLogger("ragfile.search")


class KnowledgeBase(Archive):
    """A 1.0 file opened for asking; see the package's open()."""

    def __init__(self, path, *, embedder=None, generation=0, strict=False):
        super().__init__(path, generation=generation, strict=strict)
        self._options["embedder"] = embedder
        self._embedder = None if embedder is None else self._checked(open_embedder(embedder))

    # ---------------------------------------------------------------------------------------------------- asking --

    def search(self, query, k=12, *, mode="hybrid", where=None, tags_any=(), tags_all=(), pool=50, fusion=None,
               vector=None, distinct=False, threads=None):  # fmt: skip
        """The k best passages for a question.

        where is a filter on metadata, or a bool for each row, or row numbers; all filters are applied before ranking. pool is
        how many candidates each leg proposes. fusion is "calibrated" (what files record), "rrf" or "blend", or such a name
        with a dict of parameters. vector is the question's own vector, where it is known. distinct leaves out passages that
        nearly repeat a better one.
        """
        vectors = None if vector is None else np.asarray(vector, dtype=np.float32).reshape(1, -1)
        return self.search_batch(
            [query], k, mode=mode, where=where, tags_any=tags_any, tags_all=tags_all, pool=pool, fusion=fusion,
            vectors=vectors, distinct=distinct, threads=1 if threads is None else threads,
        )[0]  # fmt: skip

    def search_batch(self, queries, k=12, *, mode="hybrid", where=None, tags_any=(), tags_all=(), pool=50, fusion=None,
                     vectors=None, distinct=False, threads=None):  # fmt: skip
        """As search, for many questions: each leg is one call into the core."""
        if mode not in MODES:
            raise ValueError(f"unknown mode {mode!r}: use one of {', '.join(MODES)}")
        if k < 0 or pool < 0:
            raise ValueError(f"k and pool must not be negative, not {k} and {pool}")
        queries, clock = list(queries), _Clock()
        if mode == "keyword":
            return [self._keyword(query, k, self.mask(where, tags_any, tags_all)) for query in queries]
        chosen = self.mask(where, tags_any, tags_all)
        clock.note("filter")
        degraded = ""
        if mode != "bm25" and vectors is None:
            vectors, degraded = self._question_vectors(queries)
            clock.note("embed")
        use_bm25 = mode != "vector" or vectors is None
        if use_bm25 and not self._can("rag.terms"):
            use_bm25, degraded = False, degraded or ("the file has no BM25 index" if mode != "vector" else "")
        depth = max(k, pool)
        dense = self.nearest(vectors, depth, where=chosen, threads=threads) if vectors is not None else None
        clock.note("vector")
        lexical = self.match(queries, depth, where=chosen, threads=threads) if use_bm25 else None
        clock.note("bm25")
        ask = _Ask(self, queries, vectors, fusion, k, distinct)
        answers = [ask.answer(i, _row(dense, i), _row(lexical, i)) for i in range(len(queries))]
        clock.note("fuse")
        found = [self._hits(answer, degraded) for answer in answers]
        clock.note("fetch")
        for query, hits in zip(queries, found, strict=True):
            hits.timings = clock.spent
            if log.isEnabledFor(logging.INFO):
                log.info("search", extra={"ragfile": _record(self, query, k, mode, hits)})
        return found

    def _can(self, name):
        return any(s.section(name) is not None for s in self._segments if s.live)

    def _hits(self, answer, degraded):
        kind, rows, scores, by_leg = answer
        hits = [self.hit(row, score, kind, parts) for row, score, parts in zip(rows, scores, by_leg, strict=True)]
        return Hits(hits, degraded=degraded)

    def _keyword(self, query, k, chosen):
        """Rows whose metadata lists the query among its "keywords", or whose id, document or source it is."""
        mask = self.mask({"keywords": {"$contains": query}})
        segment, number = self._find(query)
        if segment is not None:
            first, count = segment.records.document(number)[8:]
            mask[segment.base + first : segment.base + first + count] = True
        if (row := self.row(query)) is not None:
            mask[row] = True
        for s in self._segments:
            mask[s.base : s.base + s.rows] &= s.live_mask()
        rows = np.flatnonzero(mask if chosen is None else mask & chosen)[:k]
        return Hits([self.hit(int(row), 1.0, "keyword", {"keyword": 1.0}) for row in rows])

    # ------------------------------------------------------------------------------------------------- embedding --

    @property
    def embedder(self):
        """What turns questions into vectors: the one given, else the model that the file records, where it is on this
        machine. A file never makes anybody talk to a server."""
        if self._embedder is None:
            spec = (self.config.get("model") or {}).get("spec")
            if spec:
                self._embedder = self._checked(embedder_of_file(spec))
        return self._embedder

    def _checked(self, embedder):
        recorded = self.config.get("model")
        if embedder is None or not recorded:
            return embedder
        model = embedder.model
        if model.name != recorded["name"] or (
            model.dims is not None and self.dim is not None and model.dims != self.dim
        ):
            raise ModelError(
                f"{self.path} was built with {recorded['name']} ({self.dim} dimensions), not {model.name} ({model.dims})"
            )
        return embedder

    def _question_vectors(self, queries):
        """(vectors, "") or (None, why there are none)."""
        if not self.has_vectors:
            return None, "the file has no vectors"
        try:
            if self.embedder is None:
                return None, "the file does not record its embedder: give embedder= to open, or vector="
            return self._remembered(queries), ""
        except (ProviderError, ModelError, ImportError, OSError) as error:
            return None, f"no embedding: {error}"

    def _remembered(self, queries):
        """Vectors of questions; the last few hundred are kept."""
        known = self.__dict__.setdefault("_asked", OrderedDict())
        new = list(dict.fromkeys(query for query in queries if query not in known))
        if new:
            known.update(zip(new, self.embedder.embed(new, role="query"), strict=True))
        vectors = np.array([known[query] for query in queries], dtype=np.float32)
        while len(known) > REMEMBERED:
            known.popitem(last=False)
        return vectors

    # -------------------------------------------------------------------------------------------------- the sample --

    @property
    def sample(self):
        """Rows that stand for the collection: those with the smallest hashes of their keys, whatever the file's history."""
        found = self.__dict__.get("_sample")
        if found is None or found[0] is not self._commit:
            picked = sorted(
                (hash_, segment.base + row)
                for segment in self._segments
                for hash_, row in segment.records.sample(SAMPLE, segment.alive)
            )[:SAMPLE]
            found = self.__dict__["_sample"] = self._commit, np.array([row for _, row in picked], dtype=np.int64)
        return found[1]


class _Ask:
    """One call's questions and how their legs are put together."""

    def __init__(self, base, queries, vectors, chosen, k, distinct):
        self.base, self.queries, self.vectors, self.k, self.distinct = base, queries, vectors, k, distinct
        recorded = base.config.get("fusion") or {}
        method, params = chosen if isinstance(chosen, tuple) else (chosen, {})
        self.method, self.params = method or recorded.get("method", "calibrated"), {**recorded, **params}
        if self.method not in ("calibrated", "rrf", "blend"):
            raise ValueError(f"unknown fusion {self.method!r}: use calibrated, rrf or blend")

    def answer(self, i, dense, lexical):
        """(score type, rows, scores, scores by leg) of question i."""
        if dense is None and lexical is None:
            return "none", [], [], []
        if dense is None or lexical is None:
            name, (rows, scores) = ("bm25", lexical) if dense is None else ("vector", dense)
            rows, scores = self._cut(rows, scores)
            return name, rows, scores, [{name: score} for score in scores]
        return self._fused(i, dense, lexical)

    def _fused(self, i, dense, lexical):
        base, vector = self.base, self.vectors[i]
        rows = np.union1d(dense[0], lexical[0])
        bm25, cosine = base.score(rows, text=self.queries[i]), base.score(rows, vector=vector)
        places = self._tie_order(rows)
        if self.method == "calibrated":
            mean, deviation = fusion.sample_statistics(base.score(base.sample, vector=vector))
            weight = self.params.get("w", TRANSFORMER_WEIGHT)
            order, scores = fusion.calibrated(places, bm25, cosine, mean=mean, deviation=deviation, w=weight)
        else:
            ranks = [(places[np.searchsorted(rows, leg[0])], leg[1]) for leg in (dense, lexical)]
            if self.method == "rrf":
                order, scores = fusion.rrf(ranks, self.params.get("rrf_k", fusion.RRF_K))
            else:
                alpha = self.params.get("alpha", 0.5)
                order, scores = fusion.blend(ranks, [alpha, 1 - alpha])
        inverse = np.argsort(places)
        at = inverse[order]
        chosen, kept = self._cut(rows[at], scores)
        position = {int(row): j for j, row in enumerate(rows)}
        parts = [{"bm25": float(bm25[position[row]]), "vector": float(cosine[position[row]])} for row in chosen]
        return self.method, chosen, kept, parts

    def _tie_order(self, rows):
        """For each row its place in the order of ties: the rows' own order in one segment, that of their keys in several."""
        segments = self.base._segments
        if len(segments) == 1:
            return np.arange(len(rows))
        keys = sorted(range(len(rows)), key=lambda j: legs.key(segments, int(rows[j])))
        places = np.empty(len(rows), dtype=np.int64)
        places[keys] = np.arange(len(rows))
        return places

    def _cut(self, rows, scores):
        """The k best, as plain numbers; with distinct, those that do not repeat a better one."""
        rows, scores = rows.tolist(), scores.tolist()
        if not self.distinct:
            return rows[: self.k], scores[: self.k]
        if self.base.has_vectors:
            kept = reranking.distinct_vectors(np.array([self.base.vector(row) for row in rows]))
        else:
            kept = reranking.distinct_texts([self.base.chunk(row).content for row in rows])
        return [rows[j] for j in kept[: self.k]], [scores[j] for j in kept[: self.k]]


class _Clock:
    """Milliseconds by stage."""

    def __init__(self):
        self._last, self.spent = time.perf_counter(), {}

    def note(self, stage):
        now = time.perf_counter()
        self.spent[stage] = (now - self._last) * 1e3
        self._last = now


def _row(leg, i):
    """A leg's (rows, scores) for question i, without what is left over."""
    if leg is None:
        return None
    rows, scores = leg[0][i], leg[1][i]
    count = int((rows >= 0).sum())
    return rows[:count], scores[:count]


def _record(base, query, k, mode, hits):
    return {
        "path": base.path, "generation": base.generation, "query": query, "k": k, "mode": mode, "found": len(hits),
        "degraded": hits.degraded, "best": hits[0].score if hits else None, "timings": hits.timings,
    }  # fmt: skip
