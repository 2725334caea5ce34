-- The pipeline of part 6 in PostgreSQL with pgvector: the schema, and each step of retrieval as a function.
--
--     createdb rag && psql rag -v dim=256 -f spec/postgresql_pipeline.sql
--     ragfile export kb.ragfile chunks.jsonl
--     psql rag -c "\copy canonical.arriving FROM 'chunks.jsonl' (FORMAT csv, QUOTE E'\x01', DELIMITER E'\x02')" \
--              -c "SELECT canonical.index('handbook', 'potion-base-8M/1')"
--
--     SELECT * FROM canonical.vector_candidates('handbook', :query_vector, tags_any => '{ops}');
--     SELECT * FROM canonical.lexical_candidates('handbook', 'rotate the keys');
--     SELECT * FROM canonical.hybrid('handbook', 'rotate the keys', :query_vector);
--
-- Vectors, filters and fusion give the library's results (part 6), vectors to binary32. Words are ranked by
-- ts_rank_cd instead of BM25, so the order of that list differs.

\if :{?dim}
\else
    \echo 'give the dimension of the vectors: psql -v dim=256 -f spec/postgresql_pipeline.sql'
    \quit
\endif

BEGIN;

CREATE EXTENSION IF NOT EXISTS vector;
CREATE SCHEMA canonical;

-- The model and the number of dimensions of a collection never change.
CREATE TABLE canonical.collections (
    name        text COLLATE "C" PRIMARY KEY,
    embed_model text NOT NULL,
    embed_dims  int  NOT NULL DEFAULT :dim CHECK (embed_dims = :dim)
);

CREATE TABLE canonical.documents (
    collection text COLLATE "C" NOT NULL REFERENCES canonical.collections,
    doc_id     text COLLATE "C" NOT NULL,   -- C: ties are broken by bytes
    source     text NOT NULL DEFAULT '',
    PRIMARY KEY (collection, doc_id)
);

CREATE TABLE canonical.chunks (
    collection  text COLLATE "C" NOT NULL,
    doc_id      text COLLATE "C" NOT NULL,
    chunk_index int    NOT NULL CHECK (chunk_index >= 0),
    id          uuid   NOT NULL,            -- derived from the other three (6.2)
    content     text   NOT NULL,
    tags        text[] NOT NULL DEFAULT '{}',
    metadata    jsonb  NOT NULL DEFAULT '{}',
    embedding   vector(:dim) NOT NULL,
    words       tsvector GENERATED ALWAYS AS (to_tsvector('english', content)) STORED,
    PRIMARY KEY (collection, doc_id, chunk_index),
    FOREIGN KEY (collection, doc_id) REFERENCES canonical.documents ON DELETE CASCADE
);

CREATE INDEX chunks_by_vector ON canonical.chunks USING hnsw (embedding vector_cosine_ops);
CREATE INDEX chunks_by_word ON canonical.chunks USING gin (words);
CREATE INDEX chunks_by_tag ON canonical.chunks USING gin (tags);

-- Lines of `ragfile export`, until canonical.index() imports them.
CREATE TABLE canonical.arriving (line text NOT NULL);

-- A line as jsonb. U+0000 and lone surrogates, which PostgreSQL cannot store, become U+FFFD, so that one
-- such character does not prevent the import of a file.
CREATE FUNCTION canonical.readable(line text) RETURNS jsonb LANGUAGE plpgsql IMMUTABLE AS $$
BEGIN
    RETURN line::jsonb;
EXCEPTION WHEN untranslatable_character OR invalid_text_representation THEN
    line := regexp_replace(line, '(?<!\\)((?:\\\\)*)\\u0000', '\1\\ufffd', 'g');
    line := regexp_replace(line, '(?<!\\)((?:\\\\)*)\\ud[89ab][0-9a-f]{2}(?!\\ud[c-f])', '\1\\ufffd', 'g');
    line := regexp_replace(line, '(?<!\\ud[89ab][0-9a-f][0-9a-f])(?<!\\)((?:\\\\)*)\\ud[c-f][0-9a-f]{2}', '\1\\ufffd', 'g');
    RETURN line::jsonb;
END $$;

-- Upsert the imported rows. Importing the same rows again changes nothing. A model that differs from the
-- collection's is an error.
CREATE FUNCTION canonical.index(into_collection text, model text) RETURNS TABLE (inserted bigint, updated bigint, unchanged bigint)
LANGUAGE plpgsql AS $$
BEGIN
    INSERT INTO canonical.collections (name, embed_model) VALUES (into_collection, model) ON CONFLICT DO NOTHING;
    IF model <> (SELECT embed_model FROM canonical.collections WHERE name = into_collection) THEN
        RAISE 'collection % has vectors of another model than %', into_collection, model;
    END IF;
    CREATE TEMP TABLE coming ON COMMIT DROP AS SELECT canonical.readable(arriving.line) AS line FROM canonical.arriving;
    DELETE FROM canonical.arriving;
    INSERT INTO canonical.documents
        SELECT DISTINCT ON (line->>'doc_id') into_collection, line->>'doc_id', coalesce(line->>'source', '') FROM coming
        ON CONFLICT (collection, doc_id) DO UPDATE SET source = excluded.source;
    RETURN QUERY
        WITH come AS (
            SELECT line FROM coming
        ), written AS (
            INSERT INTO canonical.chunks AS old (collection, doc_id, chunk_index, id, content, tags, metadata, embedding)
                SELECT into_collection, line->>'doc_id', (line->>'chunk_index')::int, (line->>'uuid')::uuid, line->>'text',
                       ARRAY(SELECT jsonb_array_elements_text(line->'tags')), line->'metadata', (line->>'embedding')::vector
                FROM come
                ON CONFLICT (collection, doc_id, chunk_index) DO UPDATE
                    SET content = excluded.content, tags = excluded.tags, metadata = excluded.metadata, embedding = excluded.embedding
                    WHERE (old.content, old.tags, old.metadata, old.embedding)
                        IS DISTINCT FROM (excluded.content, excluded.tags, excluded.metadata, excluded.embedding)
                RETURNING xmax = 0 AS is_new
        )
        SELECT count(*) FILTER (WHERE is_new), count(*) FILTER (WHERE NOT is_new), (SELECT count(*) FROM come) - count(*) FROM written;
    DROP TABLE coming;
END $$;

-- tags_any: one of them; tags_all: all; an empty list does not restrict. metadata: equality of top-level keys, by type and value.
CREATE FUNCTION canonical.passes(chunk canonical.chunks, tags_any text[], tags_all text[], metadata jsonb) RETURNS boolean
LANGUAGE sql IMMUTABLE AS $$
    SELECT (tags_any = '{}' OR chunk.tags && tags_any) AND chunk.tags @> tags_all
        AND NOT EXISTS (SELECT FROM jsonb_each(passes.metadata) f WHERE chunk.metadata->f.key IS DISTINCT FROM f.value)
$$;

-- The exact nearest rows by cosine. The SET line disables the index, which could miss some.
CREATE FUNCTION canonical.vector_candidates(
    of_collection text, query vector, k int DEFAULT 50, tags_any text[] DEFAULT '{}', tags_all text[] DEFAULT '{}', metadata jsonb DEFAULT '{}'
) RETURNS TABLE (doc_id text, chunk_index int, score float8, rank bigint)
LANGUAGE sql STABLE SET enable_indexscan = off AS $$
    SELECT c.doc_id, c.chunk_index, 1 - (c.embedding <=> query) AS score,
           row_number() OVER (ORDER BY c.embedding <=> query, c.doc_id COLLATE "C", c.chunk_index) AS rank
    FROM canonical.chunks c
    WHERE c.collection = of_collection AND canonical.passes(c, tags_any, tags_all, vector_candidates.metadata)
    ORDER BY rank LIMIT k
$$;

CREATE FUNCTION canonical.lexical_candidates(
    of_collection text, query text, k int DEFAULT 50, tags_any text[] DEFAULT '{}', tags_all text[] DEFAULT '{}', metadata jsonb DEFAULT '{}'
) RETURNS TABLE (doc_id text, chunk_index int, score float8, rank bigint)
LANGUAGE sql STABLE AS $$
    SELECT c.doc_id, c.chunk_index, ts_rank_cd(c.words, asked)::float8 AS score,
           row_number() OVER (ORDER BY ts_rank_cd(c.words, asked) DESC, c.doc_id COLLATE "C", c.chunk_index) AS rank
    FROM canonical.chunks c,
         to_tsquery('english', (SELECT string_agg(quote_literal(word), ' | ') FROM unnest(tsvector_to_array(to_tsvector('simple', query))) word)) asked
    WHERE c.collection = of_collection AND c.words @@ asked AND canonical.passes(c, tags_any, tags_all, lexical_candidates.metadata)
    ORDER BY rank LIMIT k
$$;

-- Reciprocal rank fusion of lists [[{"doc_id", "chunk_index"}, …], …], each best first.
CREATE FUNCTION canonical.fuse(lists jsonb, k int DEFAULT 12, rrf_k int DEFAULT 60)
RETURNS TABLE (doc_id text, chunk_index int, score float8)
LANGUAGE sql IMMUTABLE AS $$
    SELECT * FROM (
        SELECT found->>'doc_id' AS doc_id, (found->>'chunk_index')::int AS chunk_index,
               sum(1 / (rrf_k + rank)::float8 ORDER BY list) AS score
        FROM jsonb_array_elements(lists) WITH ORDINALITY AS each_list(members, list),
             jsonb_array_elements(members) WITH ORDINALITY AS member(found, rank)
        GROUP BY 1, 2
    ) fused
    ORDER BY fused.score DESC, fused.doc_id COLLATE "C", fused.chunk_index LIMIT k
$$;

CREATE FUNCTION canonical.hybrid(
    of_collection text, query text, query_vector vector, k int DEFAULT 12, pool int DEFAULT 50, rrf_k int DEFAULT 60,
    tags_any text[] DEFAULT '{}', tags_all text[] DEFAULT '{}', metadata jsonb DEFAULT '{}'
) RETURNS TABLE (doc_id text, chunk_index int, score float8)
LANGUAGE sql STABLE AS $$
    SELECT * FROM canonical.fuse(
        jsonb_build_array(
            (SELECT coalesce(jsonb_agg(to_jsonb(v) ORDER BY rank), '[]')
                FROM canonical.vector_candidates(of_collection, query_vector, pool, tags_any, tags_all, hybrid.metadata) v),
            (SELECT coalesce(jsonb_agg(to_jsonb(l) ORDER BY rank), '[]')
                FROM canonical.lexical_candidates(of_collection, query, pool, tags_any, tags_all, hybrid.metadata) l)
        ), k, rrf_k)
$$;

COMMIT;
