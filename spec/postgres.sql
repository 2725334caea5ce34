-- A ragfile collection in PostgreSQL with pgvector.
--
--     createdb rag && psql rag -v dim=768 -f spec/postgres.sql
--     ragfile convert notes.ragmd folder --to pgvector && cd folder && psql rag -f load.sql
--
-- The same tables come back with: psql rag -f dump.sql; ragfile convert folder notes.ragmd

\if :{?dim}
\else
    \echo 'give the number of dimensions: psql -v dim=768 -f spec/postgres.sql'
    \quit
\endif

BEGIN;

CREATE EXTENSION IF NOT EXISTS vector;
CREATE SCHEMA ragfile;

CREATE TABLE ragfile.note (
    key   text PRIMARY KEY,          -- model_name, metric ('ip' or 'l2'), created_at, updated_at
    value text NOT NULL
);

CREATE TABLE ragfile.documents (
    position bigint PRIMARY KEY,     -- the order of the documents
    id       text NOT NULL UNIQUE,
    source   text NOT NULL DEFAULT '',
    title    text NOT NULL DEFAULT '',
    body     text NOT NULL           -- the whole document as JSON; text, because jsonb keeps neither lone surrogates nor key order
);

CREATE TABLE ragfile.chunks (
    row_id      bigint PRIMARY KEY,  -- the row of the index
    document_id text NOT NULL,       -- no foreign key: rows of deleted documents are kept
    chunk_key   text NOT NULL,
    text        text NOT NULL,
    i_start     bigint,              -- a span of the document's full text, or null
    i_end       bigint,
    embedding   vector(:dim) NOT NULL,
    CHECK ((i_start IS NULL) = (i_end IS NULL)),
    CHECK (i_start IS NULL OR 0 <= i_start AND i_start <= i_end)
);

CREATE INDEX chunks_by_document ON ragfile.chunks (document_id);
CREATE INDEX chunks_by_word ON ragfile.chunks USING gin (to_tsvector('english', text));

-- The ten nearest by inner product, exactly:
--     SELECT row_id, document_id, -(embedding <#> :query) AS score FROM ragfile.chunks ORDER BY embedding <#> :query LIMIT 10;

COMMIT;
