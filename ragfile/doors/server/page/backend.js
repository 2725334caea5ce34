/* Where the page gets its passages from: the one module that differs between the places where the
page is served.

The server (`ragfile serve`) sends the page as it lies here, and rest.js asks it. A static site
replaces this one file by a line that names its own module, for example

    export { open } from "./static.js";

A backend is what `await open()` gives. Everything in it returns a promise. `c` is the name of a
collection, `signal` an AbortSignal that stops the call, and positions count code points as the
file does. Errors are thrown as Error with a sentence for people; `error.status` is 401 where a key
is asked for.

    collections()                 [{name, documents, chunks, generation}], the first is shown first;
                                  {name, error} of one that cannot be read
    info(c)                       {name, documents, chunks, generation, modes, asks, writes}
                                  modes: those of ["hybrid", "bm25", "vector"] that can be asked
                                  asks: a model's name, or "" where answers quote the file
                                  writes: whether files can be put in and taken out
    search(c, question, {k, mode, where, tags, isBeginning, signal})
                                  {hits, excerpts, degraded, generation}; hits have the fields of
                                  ragfile.Hit: id, doc_id, chunk_index, text, score, score_type,
                                  scores, tags, metadata, source, start, end. excerpts has by id
                                  {lines: [{text, marks, is_code, number}], in_file}, and if known
                                  there are support {strength, missing} and, by id, missing words and
                                  standing: how current and trusted a document is
    document(c, id, {start, end, context, signal})
                                  {id, source, metadata, tags, size, start, end, text, before, after,
                                  checksum}: text is the stretch [start, end) of the document, before
                                  and after up to `context` characters around it. A stretch that is
                                  not in the document is an error with status 422

What follows can be missing; the page then does not offer it.

    facets(c)                     {tags, fields}: tags and the `values` of a field are lists of
                                  {value, chunks}, the commonest first; a field has a name and
                                  `distinct`, the number of its values; of numbers `least` and `most`
    links(c, id)                  {links, backlinks}: links of a document, and those to it; each has
                                  `source`, the id of the document with the link, and `document`, that
                                  of its target, or null
    ask(c, question, {history, where, tags, mode, signal})
                                  an async iterable of {event, …}: sources (with excerpts by id), delta,
                                  citation, and at the end done or error, with the fields of ragfile's
                                  own events
    documents(c, {prefix, after}) {documents: [{id, source, chunks}], total, next}
    upload(c, file, {progress, signal})
                                  {id, state, error}; progress(share) is called on the way
    file(c, id)                   {id, state: "queued" | "indexed" | "error", error}
    remove(c, id)                 takes a document out
    watch(listener)               calls listener({text, share}) as things load after the page, and
                                  listener(null) when all is there
    setKey(key), key              the API key for the calls to come
    beginnings                    whether search() takes isBeginning: the last word of the question
                                  then stands for all words that begin with it
*/

export { open } from "./rest.js";
