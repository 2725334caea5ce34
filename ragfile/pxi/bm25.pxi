# The lexical engine: analyze text, build sections from rows, search rows by query.
cdef extern from "Python.h":
    const char *PyUnicode_AsUTF8AndSize(object text, Py_ssize_t *size) except NULL

# Bytes of rows analyzed per batch: large enough to call the stemmer rarely, small enough to stay in
# cache.
DEF BATCH_BYTES = 1 << 20
COMMONEST = RAG_COMMONEST
# A larger query vocabulary is discarded and rebuilt.
DEF CACHED_WORDS = 1 << 17
DEF KEPT_WORDS = 1 << 12  # with their terms, for operators and highlights


cdef void collect_word(void *context, const rag_word *word) noexcept with gil:
    (<list>context).append(((<const char *>word.bytes)[:word.size].decode(), word.kind == 1))


cdef void collect_place(void *context, const rag_word *word) noexcept with gil:
    (<list>context).append(((<const char *>word.bytes)[:word.size].decode(), word.kind == 1,
                            word.from_, word.to))


cdef const uint8_t *utf8(object text, size_t *size, list kept) except NULL:
    """Return a text's UTF-8, kept alive by `text` or `kept`. Bytes pass unchanged; lone surrogates,
    like any bytes that are not UTF-8, separate words."""
    cdef Py_ssize_t count = 0
    cdef const char *at
    if isinstance(text, bytes):
        at, count = text, len(text)
    elif isinstance(text, str):
        try:
            at = PyUnicode_AsUTF8AndSize(text, &count)
        except UnicodeEncodeError:
            raw = text.encode("utf-8", "surrogatepass")
            kept.append(raw)
            at, count = raw, len(raw)
    else:
        raise TypeError(f"text is a str or UTF-8 bytes, not {type(text).__name__}")
    size[0] = count
    return <const uint8_t *>at


cdef unsigned rules_of(bint strip_accents, bint pieces, bint clusters) noexcept:
    return ((RAG_STRIP_ACCENTS if strip_accents else 0) | (RAG_PIECES if pieces else 0)
            | (RAG_CLUSTERS if clusters else 0))


cdef unsigned rules_by(object analysis) except *:
    return rules_of(analysis.strip_accents, analysis.pieces, analysis.clusters)


def languages():
    """Return (code, stemmer, letters, accents, stop words) of the languages of texts, by number.
    Accents are "strip", "keep", "fold" or "foreign"; the letters keep theirs."""
    cdef list found = []
    cdef const rag_language *one = rag_language_at(0)
    while one != NULL:
        found.append((one.code.decode(), one.stemmer.decode(), one.letters.decode(),
                      ("strip", "keep", "fold", "foreign")[one.accents], one.stop_words.decode()))
        one = rag_language_at(len(found))
    return found


def question_words():
    """Return (words that claim nothing, words that mark a question) of each language, separated by spaces."""
    cdef const rag_question_words *one = rag_language_question_words(0)
    cdef list found = []
    while one != NULL:
        found.append((one.function_words.decode(), one.asking.decode()))
        one = rag_language_question_words(len(found))
    return found


def language_of(text):
    """Return the number of the language of a document."""
    cdef list kept = []
    cdef size_t size
    cdef const uint8_t *at = utf8(text, &size, kept)
    return rag_language_of(at, size)


def language_asked(text, among):
    """Return the number of the language of a question, one of several; None if it is unsure."""
    cdef list kept = []
    cdef size_t size, found
    cdef uint32_t bits = 0
    cdef const uint8_t *at = utf8(text, &size, kept)
    for number in among:
        bits |= <uint32_t>1 << <unsigned>number
    found = rag_language_asked(at, size, bits)
    return None if found == RAG_LANGUAGE_UNSURE else found


def is_foreign(text):
    """Return whether the common words of a question are those of a language other than English."""
    cdef list kept = []
    cdef size_t size
    cdef const uint8_t *at = utf8(text, &size, kept)
    return rag_language_is_foreign(at, size)


cdef tuple numbers_of(uint32_t bits):
    return tuple(number for number in range(32) if bits >> number & 1)


def words(text, *, bint strip_accents=False, bint pieces=False, bint clusters=False):
    """Return (word, is_whole) for the words of a text, in order. A whole (snake_case, v0.1.0, c++)
    is returned beside its parts. With pieces, getPodStatus also gives its pieces, as parts; with
    clusters, scripts without spaces also give their characters, as wholes."""
    cdef list found = [], kept = []
    cdef size_t size
    cdef const uint8_t *at = utf8(text, &size, kept)
    rag_analyze(at, size, rules_of(strip_accents, pieces, clusters), collect_word, <void *>found)
    return found


cdef void collect_count(void *context, const uint8_t *term, size_t size,
                        uint64_t rows) noexcept with gil:
    (<dict>context)[(<const char *>term)[:size].decode("utf-8", "replace")] = rows


def word_places(text, *, bint strip_accents=False, bint pieces=False, bint clusters=False):
    """Return (word, is_whole, start, end) for the words of a text; positions are code points of a
    str, bytes of bytes."""
    cdef list found = [], kept = [], points
    cdef size_t size, i, count = 0
    cdef const uint8_t *at = utf8(text, &size, kept)
    rag_analyze(at, size, rules_of(strip_accents, pieces, clusters), collect_place, <void *>found)
    if size == <size_t>len(text):
        return found
    points = [0] * (size + 1)
    for i in range(size):
        points[i] = count
        count += (at[i] & 0xC0) != 0x80
    points[size] = count
    return [(word, is_whole, points[start], points[end]) for word, is_whole, start, end in found]


cdef void collect_mention(void *context, size_t number, const uint8_t *word,
                          size_t size) noexcept with gil:
    (<list>context).append((number, (<const char *>word)[:size]))


def mentions(texts, starts):
    """For each lower-case text, return (number, UTF-8) of its words that begin with the first two
    bytes of one of `starts`; ragfile.text.words defines a word."""
    cdef uint8_t[8192] heads
    cdef size_t size, head
    cdef const uint8_t *at
    cdef list all_found = [], found, kept = []
    memset(heads, 0, sizeof(heads))
    for start in starts:
        at = utf8(start, &size, kept)
        if size:
            head = <size_t>at[0] << 8 | (at[1] if size > 1 else 0)
            heads[head // 8] |= <uint8_t>(1 << head % 8)
    for text in texts:
        found = []
        at = utf8(text, &size, kept)
        rag_match_spans(at, size, heads, collect_mention, <void *>found)
        all_found.append(found)
        kept.clear()
    return all_found


def held(list mentions, dict known, dict numbers):
    """Return the numbers of the stems and of the pairs of neighbouring stems among a text's
    mentions."""
    cdef set found = set()
    cdef size_t at, before = 0
    cdef object stem, last = None
    for number, word in mentions:
        stem = known.get(word)
        if stem is None:
            continue
        at = number
        found.add(numbers.get(stem))
        if last is not None and at == before + 1:
            found.add(numbers.get((last, stem)))
        before, last = at, stem
    found.discard(None)
    return found


def bm25_idf(uint64_t rows, uint64_t df):
    """Return the inverse document frequency of a term in df of `rows` rows."""
    return rag_bm25_idf(rows, df)


def unicode_version():
    """Return the Unicode version of the analyzer's tables."""
    return rag_unicode_version().decode()


cdef int resolve(rag_vocabulary *vocabulary, object reduce) except -1:
    """Resolve the vocabulary's new words to terms with reduce()."""
    cdef rag_fault fault
    cdef size_t size
    cdef const uint8_t *pending = rag_vocabulary_pending(vocabulary, &size)
    if size == 0:
        return 0
    new = (<const char *>pending)[: size - 1].decode().split("\0")
    cdef bytes terms = ("\0".join(reduce(new)) + "\0").encode()
    return check(rag_vocabulary_resolve(vocabulary, <const uint8_t *><const char *>terms,
                                        len(terms), &fault), &fault)


# ----------------------------------------------------------------------------------------- building


cdef class ByteSink:
    """A Python callable that receives bytes from C; its exception is stored and raised later."""

    cdef object write
    cdef object raised

    def __cinit__(self, write):
        self.write = write


cdef int write_bytes(void *context, const void *data, size_t size) noexcept with gil:
    cdef ByteSink sink = <ByteSink>context
    try:
        sink.write((<const char *>data)[:size])
    except BaseException as raised:
        sink.raised = raised
        return -1
    return 0


cdef class SpillFile:
    """Storage of spilled runs: an unnamed temporary file, opened on first use."""

    cdef object file
    cdef object directory
    cdef object raised

    def __cinit__(self, directory):
        self.directory = directory


cdef int spill_write(void *context, const void *data, size_t size) noexcept with gil:
    cdef SpillFile spill = <SpillFile>context
    try:
        if spill.file is None:
            from ragfile.ground.system import unnamed_file

            spill.file = unnamed_file(spill.directory)
        spill.file.seek(0, 2)
        spill.file.write((<const char *>data)[:size])
    except BaseException as raised:
        spill.raised = raised
        return -1
    return 0


cdef int spill_read(void *context, uint64_t at, void *data, size_t size) noexcept with gil:
    cdef SpillFile spill = <SpillFile>context
    try:
        spill.file.seek(at)
        return 0 if spill.file.readinto(<char[:size]><char *>data) == size else -1
    except BaseException as raised:
        spill.raised = raised
        return -1


cdef class LexicalBuilder:
    """Build the lexical sections of a segment from its rows in order.

    `analysis` is a ragfile.ingest.analysis.Analysis. Memory beyond about `memory` bytes goes to a
    temporary file in `directory`; the bytes built do not depend on either, nor on how rows are
    batched.
    """

    cdef rag_lexical_builder *builder
    cdef SpillFile spill
    cdef object reduce
    cdef object analysis
    cdef tuple weights
    cdef int placed  # the number of the field whose words have positions; -1 for none
    cdef size_t waiting
    cdef readonly uint64_t rows

    def __cinit__(self, analysis, *, size_t memory=256 << 20, directory=None):
        cdef rag_spill spill
        self.spill = SpillFile(directory)
        spill.write = spill_write
        spill.read = spill_read
        spill.context = <void *>self.spill
        self.analysis = analysis
        self.weights = analysis.weights
        self.placed = analysis.placed_field
        self.reduce = analysis.reducer()
        self.builder = rag_lexical_builder_new(analysis.k1, analysis.b, rules_by(analysis), memory,
                                               spill)
        if self.builder == NULL:
            raise MemoryError

    def __dealloc__(self):
        rag_lexical_builder_free(self.builder)

    cdef int verify(self, rag_status status, rag_fault *fault) except -1:
        if status == RAG_OS and self.spill.raised is not None:
            raise self.spill.raised
        return check(status, fault)

    cdef int commit(self) except -1:
        cdef rag_fault fault
        cdef rag_status status
        resolve(rag_lexical_builder_vocabulary(self.builder), self.reduce)
        with nogil:
            status = rag_lexical_builder_commit(self.builder, &fault)
        self.waiting = 0
        return self.verify(status, &fault)

    cdef int add_text(self, text, uint32_t weight, bint is_placed) except -1:
        cdef rag_fault fault
        cdef rag_status status
        cdef size_t size
        cdef list kept = []
        cdef const uint8_t *at = utf8(text, &size, kept)
        with nogil:
            status = rag_lexical_builder_text(self.builder, at, size, weight, is_placed, &fault)
        self.waiting += size
        return self.verify(status, &fault)

    def add(self, rows, size_t language=0):
        """Add rows in order: each a str, or with several fields a tuple of a str or None per
        field. Their words are those of a language, by its number."""
        cdef rag_fault fault
        if self.builder == NULL:
            raise ValueError("the builder is finished")
        rag_lexical_builder_language(self.builder, language)
        for row in rows:
            if isinstance(row, (str, bytes)):
                self.add_text(row, self.weights[0], self.placed == 0)
            else:
                if len(row) != len(self.weights):
                    raise ValueError(f"a row has {len(self.weights)} fields, not {len(row)}")
                for number, text in enumerate(row):
                    if text is not None:
                        self.add_text(text, self.weights[number], self.placed == number)
            self.verify(rag_lexical_builder_end_row(self.builder, &fault), &fault)
            self.rows += 1
            if self.waiting >= BATCH_BYTES:
                self.commit()

    def finish(self, write_postings, write_terms, write_positions=None):
        """Write rag.postings, then rag.terms, each through a callable that takes bytes. Ends the
        builder.

        `write_positions`, if given, is two callables for rag.positions: for its lists, and for all
        that precedes them in the section.
        """
        cdef rag_fault fault
        cdef rag_status status
        cdef rag_sink postings, terms
        cdef rag_position_sinks positions
        cdef const rag_position_sinks *positions_at = NULL
        cdef ByteSink lists_sink, front_sink
        if self.builder == NULL:
            raise ValueError("the builder is finished")
        self.commit()
        cdef bytes config = self.analysis.record(unicode_version()).encode()
        cdef const uint8_t *config_at = <const uint8_t *><const char *>config
        cdef size_t config_size = len(config)
        cdef ByteSink postings_sink = ByteSink(write_postings), terms_sink = ByteSink(write_terms)
        postings.write = terms.write = write_bytes
        postings.context = <void *>postings_sink
        terms.context = <void *>terms_sink
        sinks = [postings_sink, terms_sink]
        if write_positions is not None:
            lists_sink, front_sink = ByteSink(write_positions[0]), ByteSink(write_positions[1])
            positions.lists.write = positions.front.write = write_bytes
            positions.lists.context = <void *>lists_sink
            positions.front.context = <void *>front_sink
            positions_at = &positions
            sinks += [lists_sink, front_sink]
        with nogil:
            status = rag_lexical_builder_finish(self.builder, config_at, config_size, postings,
                                                terms, positions_at, &fault)
        rag_lexical_builder_free(self.builder)
        self.builder = NULL
        for sink in sinks:
            if (<ByteSink>sink).raised is not None:
                raise (<ByteSink>sink).raised
        self.verify(status, &fault)


# ------------------------------------------------------------------------------------------- asking


cdef object count_of(uint32_t shares):
    """Return the count of a term: whole, except that of a part of a word without spaces."""
    return shares // RAG_SHARE if shares % RAG_SHARE == 0 else shares / <double>RAG_SHARE


cdef class Queries:
    """Analyzed query texts: made once, searched in any number of segments."""

    cdef rag_queries *queries
    cdef readonly size_t count
    cdef rag_lexical_stats numbers  # set if field weights differ from the file's
    cdef uint32_t *weights_at

    def __cinit__(self):
        self.queries = rag_queries_new()
        if self.queries == NULL:
            raise MemoryError

    def __dealloc__(self):
        rag_queries_free(self.queries)
        free(self.weights_at)

    @property
    def weights(self):
        """The queries' own field weights, the main field's first; empty to use the file's."""
        return tuple(self.numbers.weights[i] for i in range(self.numbers.weight_count))

    @property
    def sizes(self):
        """(number of rows, their total length) under these weights."""
        return self.numbers.rows, self.numbers.total_length

    def weigh(self, weights, uint64_t rows, uint64_t total_length, double k1, double b):
        """Set field weights that differ from the file's, and the statistics under them. Call at
        most once."""
        if self.weights_at != NULL or not weights:
            raise ValueError("queries are weighed once, by one weight or more")
        self.weights_at = <uint32_t *>calloc(len(weights), sizeof(uint32_t))
        if self.weights_at == NULL:
            raise MemoryError
        for i, weight in enumerate(weights):
            self.weights_at[i] = weight
        self.numbers.rows, self.numbers.total_length = rows, total_length
        self.numbers.k1, self.numbers.b = k1, b
        self.numbers.weights, self.numbers.weight_count = self.weights_at, len(weights)

    cdef void put_weights(self, rag_lexical_stats *into) noexcept:
        into.weights, into.weight_count = self.numbers.weights, self.numbers.weight_count
        if self.numbers.weights != NULL:
            into.rows, into.total_length = self.numbers.rows, self.numbers.total_length

    def __len__(self):
        return self.count

    def terms(self):
        """Return (term, count) of each query's distinct terms, in order of first occurrence."""
        cdef size_t i, j, count
        cdef rag_query_term *terms
        found = []
        for i in range(self.count):
            terms = rag_queries_terms(self.queries, i, &count)
            found.append([((<const char *>terms[j].bytes)[: terms[j].size].decode(),
                           count_of(terms[j].count)) for j in range(count)])
        return found

    def frequencies(self):
        """Return the document frequencies of each query's terms."""
        cdef size_t i, j, count
        cdef rag_query_term *terms
        found = []
        for i in range(self.count):
            terms = rag_queries_terms(self.queries, i, &count)
            found.append([terms[j].df for j in range(count)])
        return found

    def __reduce__(self):
        """Pickle as terms with their document frequencies, so that another process needs no
        analysis."""
        cdef size_t i, j, count
        cdef rag_query_term *terms
        cdef list found = []
        for i in range(self.count):
            terms = rag_queries_terms(self.queries, i, &count)
            found.append([((<const char *>terms[j].bytes)[: terms[j].size], terms[j].count,
                           terms[j].df) for j in range(count)])
        if self.numbers.weights == NULL:
            return queries_of_terms, (found,)
        return queries_of_terms, (found, (self.weights, self.numbers.rows,
                                          self.numbers.total_length, self.numbers.k1,
                                          self.numbers.b))

    def join(self):
        """Count each word of several languages once: add up the frequencies of its terms. Call once
        after set_df()."""
        rag_queries_join(self.queries)

    def set_df(self, df):
        """Set document frequencies by term; None uses those of the searched segment."""
        cdef size_t i, j, count
        cdef rag_query_term *terms
        for i in range(self.count):
            terms = rag_queries_terms(self.queries, i, &count)
            for j in range(count):
                term = (<const char *>terms[j].bytes)[: terms[j].size].decode()
                terms[j].df = df.get(term, 0) if df is not None else 0


def queries_of_terms(list texts, weighed=None):
    """Return Queries of known terms, a list of (term, count, document frequency) each. weighed
    holds the arguments of Queries.weigh."""
    cdef rag_fault fault
    cdef Queries queries = Queries()
    cdef bytes term
    for text in texts:
        for term, count, df in text:
            check(rag_queries_term(queries.queries, <const uint8_t *><const char *>term, len(term),
                                   count, df, &fault), &fault)
        check(rag_queries_end(queries.queries, &fault), &fault)
        queries.count += 1
    rag_queries_seal(queries.queries)
    if weighed is not None:
        queries.weigh(*weighed)
    return queries


cdef class Asker:
    """Turn texts into queries by one analysis, with a cache from word to term. `numbers` are those of
    the languages of the rows, without English."""

    cdef rag_vocabulary *vocabulary
    cdef object reduce
    cdef unsigned rules
    cdef object lock
    cdef readonly tuple numbers
    cdef uint32_t among
    cdef dict known  # the terms of some words

    def __cinit__(self, analysis, tuple numbers=()):
        self.reduce, self.known = analysis.reducer(), {}
        self.rules = rules_by(analysis)
        self.numbers, self.among = numbers, 1
        for number in numbers:
            self.among |= <uint32_t>1 << <unsigned>number
        self.lock = ForkSafeLock()
        self.vocabulary = rag_vocabulary_new()
        if self.vocabulary == NULL:
            raise MemoryError

    def __dealloc__(self):
        rag_vocabulary_free(self.vocabulary)

    def queries(self, texts):
        """Return Queries of a list of str."""
        self.lock.acquire()
        try:
            return self.analysed(texts)
        finally:
            self.lock.release()

    def queries_with(self, text, terms):
        """Return Queries of one text, with `terms` appended unchanged."""
        self.lock.acquire()
        try:
            return self.analysed([text], terms)
        finally:
            self.lock.release()

    def terms_of(self, words):
        """Return the terms of words that are parts, in order; "" for a stop word."""
        cdef dict known = self.known
        cdef list wanted = list(words), new
        self.lock.acquire()
        try:
            new = [word for word in dict.fromkeys(wanted) if word not in known]
            if new:
                if len(known) > KEPT_WORDS:
                    known.clear()
                    new = list(dict.fromkeys(wanted))
                known.update(zip(new, self.reduce(new), strict=True))
            return [known[word] for word in wanted]
        finally:
            self.lock.release()

    cdef Queries analysed(self, texts, terms=()):
        if self.vocabulary != NULL and rag_vocabulary_size(self.vocabulary) > CACHED_WORDS:
            self.forget()
        if self.vocabulary == NULL:
            self.vocabulary = rag_vocabulary_new()
            if self.vocabulary == NULL:
                raise MemoryError
        try:
            return self.noted(texts, terms)
        except:
            self.forget()  # it may contain words without terms
            raise

    cdef forget(self):
        rag_vocabulary_free(self.vocabulary)
        self.vocabulary = NULL

    cdef Queries noted(self, texts, terms):
        cdef rag_fault fault
        cdef Queries queries = Queries()
        cdef list kept = []
        cdef size_t size
        cdef const uint8_t *at
        for text in texts:
            at = utf8(text, &size, kept)
            check(rag_queries_add(queries.queries, self.vocabulary, at, size, self.rules,
                                  &fault), &fault)
            queries.count += 1
            if self.numbers:
                note_languages(self, queries, at, size)
        for term in terms:
            at = utf8(term, &size, kept)
            check(rag_queries_whole(queries.queries, self.vocabulary, at, size, &fault), &fault)
        resolve(self.vocabulary, self.reduce)
        check(rag_queries_finish(queries.queries, self.vocabulary, &fault), &fault)
        return queries


cdef int note_languages(Asker asker, Queries queries, const uint8_t *at, size_t size) except -1:
    """Add the words of a question as those of each further language."""
    cdef rag_fault fault
    cdef size_t number, sure
    for number in asker.numbers:
        check(rag_queries_also(queries.queries, asker.vocabulary, at, size, asker.rules, number,
                               &fault), &fault)
    sure = rag_language_asked(at, size, asker.among)
    if sure != RAG_LANGUAGE_UNSURE:
        rag_queries_sure(queries.queries, sure)
    return 0


def language_words(words, size_t number):
    """Return words with the mark of a language, as a dictionary has them."""
    cdef list kept = []
    cdef size_t size
    cdef const uint8_t *at
    mark = language_mark(number)
    found = []
    for word in words:
        at = utf8(word, &size, kept)
        is_marked = size + len(mark) <= 255 and not rag_word_is_dense(at, size)
        found.append(mark + word if is_marked else word)
    return found


def language_mark(size_t number):
    """Return the text before the words of a language in a dictionary."""
    cdef const rag_language *one = rag_language_at(number)
    return "" if number == 0 or one == NULL else one.code.decode() + ":"


cdef class Phrase:
    """Find the words of a phrase side by side in texts. Words are parts, as words() returns them;
    they are compared by their terms, stop words, which have none, by themselves. Texts and words
    are those of one language."""

    cdef rag_phrase *phrase
    cdef Asker asker
    cdef list words
    cdef size_t language
    cdef bint is_used

    def __cinit__(self, Asker asker not None, words, size_t language=0):
        self.asker, self.words = asker, language_words(words, language)
        self.language = language
        self.begin()

    def __dealloc__(self):
        rag_phrase_free(self.phrase)

    cdef int begin(self) except -1:
        cdef rag_fault fault
        cdef list kept = []
        cdef size_t size
        cdef const uint8_t *at
        cdef rag_phrase *phrase = rag_phrase_new(self.asker.rules & RAG_STRIP_ACCENTS,
                                                 self.language)
        if phrase == NULL:
            raise MemoryError
        rag_phrase_free(self.phrase)
        self.phrase = phrase
        for word in self.words:
            at = utf8(word, &size, kept)
            check(rag_phrase_word(self.phrase, at, size, &fault), &fault)
        return 0

    def found(self, texts):
        """Return one byte for each text: 1 if it has the phrase. Calls share what they learn about
        words."""
        if self.is_used or rag_vocabulary_size(rag_phrase_vocabulary(self.phrase)) > CACHED_WORDS:
            self.begin()
        self.is_used = True  # until the end: an exception leaves texts and words of this call
        found = self.looked_up(texts)
        self.is_used = False
        return found

    cdef object looked_up(self, texts):
        cdef rag_fault fault
        cdef list kept = []
        cdef size_t size
        cdef const uint8_t *at
        for text in texts:
            at = utf8(text, &size, kept)
            check(rag_phrase_text(self.phrase, at, size, &fault), &fault)
        self.asker.lock.acquire()
        try:
            resolve(rag_phrase_vocabulary(self.phrase), self.asker.reduce)
        finally:
            self.asker.lock.release()
        flags = bytearray(len(texts))
        cdef uint8_t[::1] room = flags
        if len(flags):
            rag_phrase_find(self.phrase, &room[0])
        return flags


cdef class Lexicon:
    """The lexical sections of one segment, searched in place."""

    cdef rag_lexicon *lexicon
    cdef rag_lexicon_info info
    cdef Section terms_section
    cdef Section postings_section
    cdef readonly object analysis
    cdef readonly object fields  # Lexicons of fields, None before attach()
    cdef object asked

    def __cinit__(self, Section terms not None, Section postings not None):
        cdef rag_fault fault
        self.terms_section = terms
        self.postings_section = postings
        check(rag_lexicon_open(&terms.guard, &postings.guard, &self.lexicon, &fault), &fault)
        lexicon_info(self.lexicon, &self.info)

    def __init__(self, terms, postings):
        from ragfile.ingest.analysis import Analysis

        try:
            self.analysis = Analysis.recorded(self.config, self.info.k1, self.info.b)
        except ValueError as reason:
            raise VersionError(f"rag.terms: {reason}", at=128, section=terms.name) from None

    def __dealloc__(self):
        rag_lexicon_close(self.lexicon)

    def attach(self, fields, weights):
        """Attach the Lexicons of separately indexed fields; weights are the build's, the main
        field's first."""
        cdef rag_fault fault
        cdef size_t count = 0
        cdef Lexicon field
        cdef rag_lexicon **lexicons = <rag_lexicon **>calloc(len(weights), sizeof(rag_lexicon *))
        cdef uint32_t *numbers = <uint32_t *>calloc(len(weights), sizeof(uint32_t))
        try:
            if lexicons == NULL or numbers == NULL:
                raise MemoryError
            if len(weights) != len(fields) + 1:
                raise ValueError("weights must be one per field, plus one for the main field")
            for i, weight in enumerate(weights):
                numbers[i] = weight
            for field in fields:
                lexicons[count] = field.lexicon
                count += 1
            check(rag_lexicon_fields(self.lexicon, lexicons, numbers, count, &fault), &fault)
            self.fields = tuple(fields)
        finally:
            free(lexicons)
            free(numbers)

    def __len__(self):
        return self.info.rows

    @property
    def config(self):
        """The configuration recorded in the file, verbatim."""
        return (<const char *>self.info.config)[: self.info.config_size].decode("utf-8", "replace")

    @property
    def total_length(self):
        return self.info.total_length

    @property
    def term_count(self):
        return self.info.terms

    @property
    def posting_count(self):
        return self.info.postings

    def languages(self, where=None):
        """Return the numbers of the languages of rows (uint64 words, one bit per row), or of all,
        without English."""
        cdef rag_fault fault
        cdef uint32_t found = 0
        cdef list kept = []
        cdef const uint64_t *filter = self.bits(where, kept)
        if self.analysis.languages:
            check(rag_lexicon_languages(self.lexicon, filter, &found, &fault), &fault)
        return numbers_of(found)

    @property
    def asker(self):
        """The Asker of this analysis, made on first use; segments of one file may share it."""
        with critical_section(self):  # for free-threaded Python
            if self.asked is None:
                self.asked = Asker(self.analysis, self.languages())
            return self.asked

    def queries(self, texts):
        return self.asker.queries(texts)

    def terms(self, text):
        """Return the distinct terms of a text with their counts, analyzed as a query."""
        return self.asker.queries([text]).terms()[0]

    cdef const uint64_t *bits(self, where, list kept) except? NULL:
        """Return a filter's words; None selects every row."""
        if where is None:
            return NULL
        cdef const uint64_t[::1] view = where
        if view.shape[0] * 64 < self.info.rows:
            raise ValueError(f"a filter of {view.shape[0]} words is too short "
                             f"for {self.info.rows} rows")
        kept.append(view)
        return &view[0] if view.shape[0] else <const uint64_t *>self.info.config

    def df(self, term, where=None):
        """Count the rows in `where` (uint64 words, one bit per row) that contain a term."""
        cdef rag_fault fault
        cdef uint64_t df = 0
        cdef list kept = []
        cdef bytes raw = term.encode()
        cdef const uint64_t *filter = self.bits(where, kept)
        check(rag_lexicon_df(self.lexicon, <const uint8_t *><const char *>raw, len(raw), filter,
                             &df, &fault), &fault)
        return df

    def place(self, term):
        """Return (offset, size) of a term's list in rag.postings; size 0 if it has no list."""
        cdef rag_fault fault
        cdef uint64_t at = 0, size = 0
        cdef bytes raw = term.encode()
        check(rag_lexicon_place(self.lexicon, <const uint8_t *><const char *>raw, len(raw), &at,
                                &size, &fault), &fault)
        return at, size

    def rows(self, term):
        """Return the rows that contain a term, and its frequency in each: two uint32 arrays."""
        import numpy

        cdef rag_fault fault
        cdef uint64_t count = 0
        cdef bytes raw = term.encode()
        cdef const uint8_t *at = <const uint8_t *><const char *>raw
        cdef uint32_t[::1] rows, tfs
        check(rag_lexicon_rows(self.lexicon, at, len(raw), NULL, NULL, 0, &count, &fault), &fault)
        found, counts = numpy.empty(count, numpy.uint32), numpy.empty(count, numpy.uint32)
        if count:
            rows, tfs = found, counts
            check(rag_lexicon_rows(self.lexicon, at, len(raw), &rows[0], &tfs[0], count, &count,
                                   &fault), &fault)
        return found, counts

    def beginning(self, prefix):
        """Return the terms that begin with a text, in byte order, each with its number of rows."""
        cdef rag_fault fault
        cdef rag_status status
        cdef dict found = {}
        cdef list kept = []
        cdef size_t size
        cdef const uint8_t *at = utf8(prefix, &size, kept)
        with nogil:
            status = rag_lexicon_beginning(self.lexicon, at, size, collect_count,
                                           <void *>found, &fault)
        check(status, &fault)
        return found

    def commonest(self, prefix):
        """Return the 64 commonest terms that begin with a text, each with its number of rows; of equally
        common ones the first."""
        cdef rag_fault fault
        cdef rag_status status
        cdef dict found = {}
        cdef list kept = []
        cdef size_t size
        cdef const uint8_t *at = utf8(prefix, &size, kept)
        with nogil:
            status = rag_lexicon_commonest(self.lexicon, at, size, collect_count, <void *>found,
                                           &fault)
        check(status, &fault)
        return found

    def near(self, word, unsigned edits):
        """Return the terms within `edits` edits of a word, in byte order, each with its number of
        rows."""
        cdef rag_fault fault
        cdef rag_status status
        cdef dict found = {}
        cdef list kept = []
        cdef size_t size
        cdef const uint8_t *at = utf8(word, &size, kept)
        with nogil:
            status = rag_lexicon_near(self.lexicon, at, size, edits, collect_count,
                                           <void *>found, &fault)
        check(status, &fault)
        return found

    def marked(self, terms):
        """Return the rows that contain any of some terms, as uint64 words of a bit each."""
        import numpy

        cdef rag_fault fault
        cdef list kept = []
        cdef size_t size
        cdef const uint8_t *at
        cdef uint64_t[::1] view
        found = numpy.zeros((self.info.rows + 63) // 64, numpy.uint64)
        view = found
        if self.info.rows:
            for term in terms:
                at = utf8(term, &size, kept)
                check(rag_lexicon_mark(self.lexicon, at, size, &view[0], &fault), &fault)
        return found

    def tf(self, term, uint64_t row):
        """Return the frequency of a term in a row."""
        import numpy

        rows, counts = self.rows(term)
        at = int(numpy.searchsorted(rows, row))
        return int(counts[at]) if at < len(rows) and rows[at] == row else 0

    def norm_of(self, uint64_t length, uint64_t rows, uint64_t total_length):
        """Return the length norm K of a row, by the statistics of a whole file."""
        cdef double average = <double>total_length / <double>rows if rows and total_length else 1.0
        base, slope = self.info.k1 * (1.0 - self.info.b), self.info.k1 * self.info.b / average
        return base + slope * length

    def vocabulary(self):
        """Yield all terms in byte order."""
        cdef rag_fault fault
        cdef uint8_t block[4096]
        cdef size_t size
        for i in range((self.info.terms + 15) // 16):
            check(rag_lexicon_block(self.lexicon, i, block, &size, &fault), &fault)
            yield from (<const char *>block)[:size].decode("utf-8", "replace").split("\0")[:-1]

    def lengths(self):
        """Return the length of each row in words, a uint32 array."""
        import numpy

        cdef rag_fault fault
        cdef uint32_t[::1] view
        lengths = numpy.empty(self.info.rows, numpy.uint32)
        if self.info.rows:
            view = lengths
            check(rag_lexicon_lengths(self.lexicon, &view[0], &fault), &fault)
        return lengths

    def live(self, where=None):
        """Return the number of rows in `where` and their total length."""
        cdef rag_fault fault
        cdef uint64_t length = 0
        cdef list kept = []
        cdef const uint64_t *filter = self.bits(where, kept)
        check(rag_lexicon_length(self.lexicon, filter, &length, &fault), &fault)
        rows = self.info.rows if where is None else rag_bits_count(filter, self.info.rows)
        return rows, length

    cdef rag_lexical_stats statistics(self, Queries queries, stats, k1, b) except *:
        cdef rag_lexical_stats found
        found.rows = self.info.rows if stats is None else stats.rows
        found.total_length = self.info.total_length if stats is None else stats.total_length
        found.k1 = self.info.k1 if k1 is None else k1
        found.b = self.info.b if b is None else b
        if stats is not None and stats.df is not None:
            queries.set_df(stats.df)
        queries.put_weights(&found)
        return found

    def match(self, texts, Py_ssize_t k=10, *, where=None, threads=None, stats=None, k1=None,
              b=None):
        """Return the exact k best rows for each text or of Queries: rows int64[m, k], scores
        float32[m, k].

        Rows are best first, ties by row; missing results have row -1 and score NaN. `where` holds
        uint64 words with a bit per eligible row, or the queries' own Filters. `stats` is a
        ragfile.ingest.analysis.Statistics of the whole file, required if the file has several
        segments or deleted rows; without its df, the terms' own frequencies apply.
        """
        import numpy

        cdef rag_fault fault
        cdef rag_status status
        cdef list kept = []
        cdef int thread_count = rag_cpu_count() if threads is None else threads
        if isinstance(texts, (str, bytes)):
            raise TypeError("texts are a list of str")
        if k < 0 or thread_count < 1:
            raise ValueError(f"k is at least 0 and threads at least 1, not {k} and {thread_count}")
        cdef Queries queries = texts if isinstance(texts, Queries) else self.asker.queries(texts)
        cdef rag_lexical_stats numbers = self.statistics(queries, stats, k1, b)
        cdef const uint64_t *filter = NULL
        cdef const rag_filters *filters = NULL
        if isinstance(where, Filters):
            filters = (<Filters>where).fitting([self], queries.count)
        else:
            filter = self.bits(where, kept)
        found = numpy.empty((queries.count, k), numpy.int64)
        scores = numpy.empty((queries.count, k), numpy.float32)
        cdef int64_t[:, ::1] rows_view = found
        cdef float[:, ::1] scores_view = scores
        if queries.count == 0 or k == 0:
            return found, scores
        with nogil:
            status = rag_lexicon_search_batch(self.lexicon, queries.queries, queries.count,
                                              &numbers, filter, filters, k, thread_count,
                                              &rows_view[0, 0], &scores_view[0, 0],
                                              &fault)
        check(status, &fault)
        return found, scores

    def score(self, rows, text, *, stats=None, k1=None, b=None, size_t of=0):
        """Return float32 scores of given rows for one text, or for query number `of` of Queries; 0
        for a row without its terms."""
        import numpy

        cdef rag_fault fault
        cdef rag_status status
        cdef size_t count
        wanted = numpy.ascontiguousarray(rows, numpy.int64)
        scores = numpy.empty(wanted.shape[0], numpy.float32)
        cdef Queries queries = text if isinstance(text, Queries) else self.asker.queries([text])
        if of >= queries.count:
            raise ValueError(f"{queries.count} queries have no number {of}")
        cdef rag_lexical_stats numbers = self.statistics(queries, stats, k1, b)
        cdef const int64_t[::1] rows_view = wanted
        cdef float[::1] scores_view = scores
        if wanted.shape[0] == 0:
            return scores
        cdef const rag_query_term *terms = rag_queries_terms(queries.queries, of, &count)
        with nogil:
            status = rag_lexicon_score(self.lexicon, terms, count, &numbers, &rows_view[0],
                                       rows_view.shape[0],
                                       &scores_view[0], &fault)
        check(status, &fault)
        return scores


# --------------------------------------------------------------------------------- several segments


cdef class Lexicons:
    """The lexicons of a file's segments, searched as one: (lexicon, live rows as uint64 words or
    None, first row) for each, in order of first row; texts become queries by the Asker."""

    cdef rag_lexical_leg *legs
    cdef size_t leg_count
    cdef list lexicons, alive, segments
    cdef rag_lexical_stats stats
    cdef Asker asker

    def __cinit__(self, segments, Asker asker=None):
        cdef Lexicon lexicon
        self.lexicons, self.alive, self.segments = [], [], []
        self.legs = <rag_lexical_leg *>calloc(len(segments) or 1, sizeof(rag_lexical_leg))
        if self.legs == NULL:
            raise MemoryError
        for lexicon, alive, base in segments:
            self.legs[self.leg_count].lexicon = lexicon.lexicon
            self.legs[self.leg_count].alive = lexicon.bits(alive, self.alive)
            self.legs[self.leg_count].base = base
            self.lexicons.append(lexicon)
            self.segments.append((lexicon, alive))
            self.leg_count += 1
            rows, length = lexicon.live(alive)
            self.stats.rows += rows
            self.stats.total_length += length
        lexicon = self.lexicons[0]
        self.asker = lexicon.asker if asker is None else asker
        self.stats.k1, self.stats.b = lexicon.info.k1, lexicon.info.b

    def __dealloc__(self):
        free(self.legs)

    def queries(self, texts, terms=()):
        """Return Queries with the statistics of all segments' live rows; `terms` require a single
        text."""
        cdef Queries queries
        if terms:
            queries = self.asker.queries_with(texts[0], terms)
        else:
            queries = self.asker.queries(texts)
        self.count(queries)
        return queries

    def rarest(self, texts):
        """Return the smallest document frequency of the terms of each text, 0 for one without terms."""
        cdef Queries queries = self.queries(texts)
        cdef const rag_query_term *terms
        cdef size_t i, j, count
        cdef uint64_t least
        cdef list found = []
        for i in range(queries.count):
            terms = rag_queries_terms(queries.queries, i, &count)
            least = terms[0].df if count else 0
            for j in range(1, count):
                least = min(least, terms[j].df)
            found.append(least)
        return found

    def weighed(self, texts, terms, weights):
        """Return Queries with their own field weights, the main field's first: all statistics equal
        those of a file built with these weights."""
        cdef Lexicon first = self.lexicons[0]
        queries = (self.asker.queries_with(texts[0], terms) if terms
                   else self.asker.queries(texts))
        total = first.analysis.reweighed(self.stats.total_length, self.field_lengths(), weights)
        queries.weigh(weights, self.stats.rows, total, self.stats.k1, self.stats.b)
        self.count(queries)
        return queries

    def field_lengths(self):
        """Return the total length of all live rows in each separately indexed field."""
        return [sum(lexicon.fields[i].live(alive)[1] for lexicon, alive in self.segments)
                for i in range(len(self.lexicons[0].fields))]

    def count(self, Queries queries not None):
        """Set the terms' document frequencies over all segments' live rows."""
        cdef rag_fault fault
        cdef rag_status status
        cdef bint is_weighed = 0 in queries.weights
        with nogil:
            if is_weighed:
                status = rag_lexicons_count_fields(self.legs, self.leg_count, queries.queries,
                                                   queries.count, &queries.numbers, &fault)
            else:
                status = rag_lexicons_count(self.legs, self.leg_count, queries.queries,
                                            queries.count, &fault)
        check(status, &fault)

    cdef rag_lexical_stats statistics(self, Queries queries, stats, k1, b) except *:
        cdef rag_lexical_stats found = self.stats
        if stats is not None:
            found.rows, found.total_length = stats.rows, stats.total_length
        found.k1 = self.stats.k1 if k1 is None else k1
        found.b = self.stats.b if b is None else b
        queries.put_weights(&found)
        return found

    def match(self, Queries queries not None, Py_ssize_t k, wheres, *, threads=None, k1=None,
              b=None, stats=None):
        """Return each segment's rows that may be among the k best overall or tie with the last:
        rows int64[m, s, k] of the file, scores float32[m, s, k]. wheres has a filter per segment,
        or is the queries' own Filters. stats holds the sizes of the whole collection, if these
        segments are a part of it. The queries' terms must have their df."""
        import numpy

        cdef rag_fault fault
        cdef rag_status status
        cdef list kept = []
        cdef int thread_count = rag_cpu_count() if threads is None else threads
        cdef const rag_filters *filters = NULL
        if isinstance(wheres, Filters):
            filters = (<Filters>wheres).fitting(self.lexicons, queries.count)
            wheres = [None] * self.leg_count
        if k < 0 or thread_count < 1 or len(wheres) != self.leg_count:
            raise ValueError("k is at least 0, threads at least 1, and there is a filter for each "
                             f"of {self.leg_count} segments")
        cdef rag_lexical_stats numbers = self.statistics(queries, stats, k1, b)
        cdef rag_lexical_leg *legs = <rag_lexical_leg *>calloc(self.leg_count, sizeof(rag_lexical_leg))
        found = numpy.empty((queries.count, self.leg_count, k), numpy.int64)
        scores = numpy.empty((queries.count, self.leg_count, k), numpy.float32)
        cdef int64_t[:, :, ::1] rows_view = found
        cdef float[:, :, ::1] scores_view = scores
        if legs == NULL:
            raise MemoryError
        try:
            for s in range(self.leg_count):
                legs[s] = self.legs[s]
                legs[s].where = (<Lexicon>self.lexicons[s]).bits(wheres[s], kept)
            if queries.count and k:
                with nogil:
                    status = rag_lexicons_search(legs, self.leg_count, queries.queries, queries.count,
                                                 &numbers, filters, k, thread_count,
                                                 &rows_view[0, 0, 0], &scores_view[0, 0, 0], &fault)
                check(status, &fault)
        finally:
            free(legs)
        return found, scores

    def score(self, rows, Queries queries not None, *, k1=None, b=None, stats=None, size_t of=0):
        """Return the scores of ascending rows of the file for query number `of`; 0 for a row
        without its terms or outside all segments."""
        import numpy

        cdef rag_fault fault
        cdef rag_status status
        cdef size_t count
        wanted = numpy.ascontiguousarray(rows, numpy.int64)
        scores = numpy.zeros(wanted.shape[0], numpy.float32)
        if of >= queries.count:
            raise ValueError(f"{queries.count} queries have no number {of}")
        cdef rag_lexical_stats numbers = self.statistics(queries, stats, k1, b)
        cdef const int64_t[::1] rows_view = wanted
        cdef float[::1] scores_view = scores
        if wanted.shape[0] == 0:
            return scores
        cdef const rag_query_term *terms = rag_queries_terms(queries.queries, of, &count)
        with nogil:
            status = rag_lexicons_score(self.legs, self.leg_count, terms, count, &numbers,
                                        &rows_view[0], rows_view.shape[0],
                                        &scores_view[0], &fault)
        check(status, &fault)
        return scores


# -------------------------------------------------------------------------- statistics of many files


cdef class Frequencies:
    """The section rag.frequencies: the document frequencies and the size of a collection. It turns
    texts into Queries for any part of the collection."""

    cdef rag_frequencies frequencies
    cdef Section section
    cdef readonly object analysis
    cdef object asked

    def __cinit__(self, Section section not None):
        cdef rag_fault fault
        self.section = section
        check(rag_frequencies_open(&section.guard, &self.frequencies, &fault), &fault)

    def __init__(self, section):
        from ragfile.ingest.analysis import Analysis

        try:
            self.analysis = Analysis.recorded(self.config, self.k1, self.b)
        except ValueError as reason:
            raise VersionError(f"rag.frequencies: {reason}", at=64, section=section.name) from None

    def __len__(self):
        return self.frequencies.terms

    @property
    def config(self):
        """The recorded configuration of the analyzer."""
        cdef size_t size = self.frequencies.config_size
        return (<const char *>self.frequencies.config)[:size].decode("utf-8", "replace")

    @property
    def rows(self):
        return self.frequencies.stats.rows

    @property
    def total_length(self):
        return self.frequencies.stats.total_length

    @property
    def k1(self):
        return self.frequencies.stats.k1

    @property
    def b(self):
        return self.frequencies.stats.b

    def df(self, term):
        """Return the document frequency of a term."""
        cdef rag_fault fault
        cdef uint64_t rows = 0
        cdef bytes raw = term.encode()
        check(rag_frequencies_find(&self.frequencies, <const uint8_t *><const char *>raw, len(raw),
                                   &rows, &fault), &fault)
        return rows

    def place(self, term):
        """Return (offset, size) of the block that a lookup of a term probably reads."""
        cdef uint64_t at = 0, size = 0
        cdef bytes raw = term.encode()
        rag_frequencies_place(&self.frequencies, <const uint8_t *><const char *>raw, len(raw), &at,
                              &size)
        return at, size

    def stretch(self, prefix):
        """Return (offset, size) of the blocks that can contain terms with a prefix."""
        at, size = self.place(prefix)
        cdef bytes after = prefix.encode() + b"\xff" * 8
        cdef uint64_t last = 0, last_size = 0
        rag_frequencies_place(&self.frequencies, <const uint8_t *><const char *>after, len(after),
                              &last, &last_size)
        first = at if size else self.frequencies.blocks_at
        return first, max(last + last_size, first) - first

    def beginning(self, prefix):
        """Return {term: df} of the terms that begin with a text, in byte order."""
        cdef rag_fault fault
        cdef rag_status status
        cdef dict found = {}
        cdef list kept = []
        cdef size_t size
        cdef const uint8_t *at = utf8(prefix, &size, kept)
        with nogil:
            status = rag_frequencies_beginning(&self.frequencies, at, size, collect_count,
                                               <void *>found, &fault)
        check(status, &fault)
        return found

    def near(self, word, unsigned edits):
        """Return {term: df} of the terms within `edits` edits of a word."""
        cdef rag_fault fault
        cdef rag_status status
        cdef dict found = {}
        cdef list kept = []
        cdef size_t size
        cdef const uint8_t *at = utf8(word, &size, kept)
        with nogil:
            status = rag_frequencies_near(&self.frequencies, at, size, edits, collect_count,
                                          <void *>found, &fault)
        check(status, &fault)
        return found

    @property
    def asker(self):
        """The Asker of this analysis, made on first use."""
        cdef rag_fault fault
        cdef uint32_t found = 0
        with critical_section(self):  # for free-threaded Python
            if self.asked is None:
                if self.analysis.languages:
                    check(rag_frequencies_languages(&self.frequencies, &found, &fault), &fault)
                self.asked = Asker(self.analysis, numbers_of(found))
            return self.asked

    def terms(self, text):
        """Return the distinct terms of a text with their counts, analyzed as a query."""
        return self.asker.queries([text]).terms()[0]

    def queries(self, texts):
        """Return the Queries, or those of texts, with the statistics of the collection."""
        cdef rag_fault fault
        cdef rag_status status
        cdef Queries queries = texts if isinstance(texts, Queries) else self.asker.queries(texts)
        with nogil:
            status = rag_frequencies_set(&self.frequencies, queries.queries, queries.count, &fault)
        check(status, &fault)
        return queries


def merge_frequencies(parts, write, uint64_t rows, uint64_t total_length):
    """Write the merged rag.frequencies of several parts through a callable that takes bytes. A part
    is (Lexicon, live rows as uint64 words or None, subtract) or (Frequencies, None, subtract); rows
    and total_length are those of the result. The first part determines the analysis."""
    cdef rag_fault fault
    cdef rag_status status
    cdef rag_sink sink
    cdef rag_lexical_stats stats
    cdef ByteSink target = ByteSink(write)
    cdef Lexicon lexicon
    cdef Frequencies counted
    cdef list kept = []
    cdef size_t count = 0
    if not parts:
        raise ValueError("frequencies have at least one part")
    cdef rag_frequency_part *all = <rag_frequency_part *>calloc(len(parts),
                                                                sizeof(rag_frequency_part))
    if all == NULL:
        raise MemoryError
    try:
        for part, alive, is_taken_away in parts:
            if isinstance(part, Lexicon):
                lexicon = part
                all[count].lexicon = lexicon.lexicon
                all[count].alive = lexicon.bits(alive, kept)
            else:
                counted = part
                all[count].frequencies = &counted.frequencies
            all[count].is_taken_away = is_taken_away
            count += 1
        first = parts[0][0]
        config = first.config.encode()
        stats.rows, stats.total_length = rows, total_length
        stats.k1, stats.b = first.analysis.k1, first.analysis.b
        sink.write, sink.context = write_bytes, <void *>target
        status = merge_into(all, count, &stats, config, sink, &fault)
        if target.raised is not None:
            raise target.raised
        check(status, &fault)
    finally:
        free(all)


cdef rag_status merge_into(const rag_frequency_part *parts, size_t count,
                           const rag_lexical_stats *stats, bytes config, rag_sink sink,
                           rag_fault *fault) except *:
    cdef rag_status status
    cdef const uint8_t *at = <const uint8_t *><const char *>config
    cdef size_t size = len(config)
    with nogil:
        status = rag_frequencies_merge(parts, count, stats, at, size, sink, fault)
    return status


def ranked(rows, scores, size_t k):
    """Return (rows, scores) of the k best and of those that tie with the last, best first, ties by
    row. Row -1 is skipped. Overwrites the given arrays."""
    cdef rag_fault fault
    cdef size_t kept = 0
    cdef int64_t[::1] rows_view = rows
    cdef float[::1] scores_view = scores
    if rows_view.shape[0] != scores_view.shape[0]:
        raise ValueError("rows and scores must have equal length")
    if rows_view.shape[0]:
        check(rag_rank(&rows_view[0], &scores_view[0], rows_view.shape[0], k, &kept, &fault),
              &fault)
    return rows[:kept], scores[:kept]


# ---------------------------------------------------------------------------------------- positions


cdef void collect_places(void *context, uint32_t row, const uint32_t *at,
                         uint32_t count) noexcept with gil:
    (<list>context).append((row, [at[i] for i in range(count)]))


cdef void collect_stop(void *context, const uint8_t *word, size_t size) noexcept with gil:
    (<list>context).append((<const char *>word)[:size].decode("utf-8", "replace"))


POSITIONS_HEAD = 64


cdef class Positions:
    """Where the words of a segment's texts are: the section rag.positions, searched in place.

    A word is a pair: its term and False, or a stop word itself and True.
    """

    cdef rag_positions *positions
    cdef Section section
    cdef Lexicon lexicon

    def __cinit__(self, Section section not None, Lexicon lexicon not None):
        cdef rag_fault fault
        self.section, self.lexicon = section, lexicon
        check(rag_positions_open(&section.guard, lexicon.lexicon, &self.positions, &fault), &fault)

    def __dealloc__(self):
        rag_positions_close(self.positions)

    def phrase(self, words):
        """Return the rows that have the words side by side, as uint64 words of a bit each."""
        import numpy

        cdef rag_fault fault
        cdef rag_status status
        cdef list kept = []
        cdef size_t i, count = len(words)
        cdef rag_place_word *marks = <rag_place_word *>calloc(count + 1, sizeof(rag_place_word))
        cdef uint64_t[::1] view
        found = numpy.zeros((self.lexicon.info.rows + 63) // 64 + 1, numpy.uint64)
        view = found
        try:
            if marks == NULL:
                raise MemoryError
            for i, word in enumerate(words):
                self.mark(word, &marks[i], kept)
            with nogil:
                status = rag_positions_phrase(self.positions, marks, count, &view[0], &fault)
            check(status, &fault)
        finally:
            free(marks)
        return found[: (self.lexicon.info.rows + 63) // 64]

    cdef int mark(self, word, rag_place_word *into, list kept) except -1:
        text, is_stop = word
        into.bytes = utf8(text, &into.size, kept)
        into.is_stop = is_stop
        return 0

    def places(self, word):
        """Return (row, positions) of each row of a word."""
        cdef rag_fault fault
        cdef rag_place_word mark
        cdef list found = [], kept = []
        self.mark(word, &mark, kept)
        check(rag_positions_list(self.positions, &mark, collect_places, <void *>found, &fault),
              &fault)
        return found

    def check_all(self):
        """Check that each word of each text is in exactly one list."""
        cdef rag_fault fault
        cdef rag_status status
        with nogil:
            status = rag_positions_check(self.positions, &fault)
        check(status, &fault)

    def stop_words(self):
        """Return the stop words that have positions, in byte order."""
        cdef rag_fault fault
        cdef list found = []
        check(rag_positions_stops(self.positions, collect_stop, <void *>found, &fault), &fault)
        return found

    def words(self, uint64_t row):
        """Return how many words the text of a row has."""
        cdef rag_fault fault
        cdef uint32_t count = 0
        check(rag_positions_words(self.positions, row, &count, &fault), &fault)
        return count

    def place(self, word):
        """Return (offset, size) of a word's list in the section; size 0 if it has no list."""
        cdef rag_fault fault
        cdef rag_place_word mark
        cdef uint64_t at = 0, size = 0
        cdef list kept = []
        self.mark(word, &mark, kept)
        check(rag_positions_place(self.positions, &mark, &at, &size, &fault), &fault)
        return at, size

    @property
    def lists_at(self):
        """The offset of the lists: what precedes them finds each."""
        return rag_positions_lists_at(self.positions)
