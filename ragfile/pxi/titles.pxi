# Titles of documents, and the pages that the best passages of a ranking name.
from libc.math cimport INFINITY, nextafter

TITLE_TEXT = RAG_TITLE_TEXT
NAMED_ROWS = RAG_NAMED_ROWS
cdef enum: NAMES_KEPT = 4096
cdef enum: PASSAGES_KEPT = 1024


def title_keys(title, *, bint strip_accents=False):
    """Return the keys of a title in rag.titles, ascending; none if it has no words or too many."""
    cdef uint64_t[2] keys
    raw = title.encode("utf-8", "surrogatepass") if isinstance(title, str) else title
    cdef const uint8_t *at = raw
    count = rag_title_keys(at, len(raw), RAG_STRIP_ACCENTS if strip_accents else 0, keys)
    return [keys[i] for i in range(count)]


cdef class TitleList:
    """The titles of a segment that is being written, in order of document."""

    cdef rag_title_list *titles
    cdef unsigned rules

    def __cinit__(self, *, bint strip_accents=False):
        self.rules = RAG_STRIP_ACCENTS if strip_accents else 0
        self.titles = rag_title_list_new()
        if self.titles == NULL:
            raise MemoryError

    def __dealloc__(self):
        rag_title_list_free(self.titles)

    def __len__(self):
        return rag_title_list_count(self.titles)

    def add(self, title, uint32_t document):
        """Add the title of a document."""
        cdef rag_fault fault
        cdef uint64_t[2] keys
        raw = title.encode("utf-8", "surrogatepass")
        cdef const uint8_t *at = raw
        cdef size_t count = rag_title_keys(at, len(raw), self.rules, keys)
        check(rag_title_list_add(self.titles, keys, count, document, &fault), &fault)

    def write(self, write):
        """Pass the bytes of the section to a function."""
        cdef rag_fault fault
        cdef Outlet outlet = Outlet.__new__(Outlet)
        outlet.write = write
        cdef rag_status status = rag_title_list_write(self.titles, write_out, <void *>outlet,
                                                      &fault)
        if outlet.error is not None:
            raise outlet.error
        check(status, &fault)


cdef class TitleTable:
    """The section rag.titles of a segment."""

    cdef rag_titles titles
    cdef object owner

    def __cinit__(self, Section section not None):
        cdef rag_fault fault
        self.owner = section
        self.titles.guard = section.guard
        check(rag_titles_open(&self.titles, &fault), &fault)

    def __len__(self):
        return self.titles.count

    def check_all(self, uint64_t documents):
        """Raise CorruptError unless keys ascend and documents are below their number."""
        cdef rag_fault fault
        check(rag_titles_check(&self.titles, documents, &fault), &fault)

    def entries(self):
        """Return [(key, document)]."""
        cdef rag_fault fault
        cdef uint64_t key = 0, i
        cdef uint32_t document = 0
        found = []
        for i in range(self.titles.count):
            check(rag_titles_entry(&self.titles, i, &key, &document, &fault), &fault)
            found.append((key, document))
        return found


cdef class Titles:
    """The titles of all segments of a file: (TitleTable, Records, live words or None, first row) of
    each. Each text is matched against all of them. Without `filters`, each word is looked up."""

    cdef rag_title_part *parts
    cdef rag_title_filter *filter
    cdef size_t count
    cdef list owners
    cdef unsigned rules

    def __cinit__(self, segments, *, bint strip_accents=False, bint filters=True):
        cdef rag_fault fault
        cdef TitleTable table
        cdef const uint64_t[::1] live
        self.owners, self.rules = [], RAG_STRIP_ACCENTS if strip_accents else 0
        self.parts = <rag_title_part *>calloc(len(segments) or 1, sizeof(rag_title_part))
        if self.parts == NULL:
            raise MemoryError
        for table, records, words, base in segments:
            self.parts[self.count].titles = &table.titles
            self.parts[self.count].records = <const rag_records *>records_at(records)
            self.parts[self.count].base = base
            if words is not None:
                live = words
                if <size_t>live.shape[0] < (len(records) + 63) // 64:
                    raise ValueError("live has fewer bits than there are rows")
                self.parts[self.count].live = &live[0] if live.shape[0] else NULL
            self.owners.append((table, records, words))
            self.count += 1
        if filters:
            check(rag_title_filter_new(self.parts, self.count, &self.filter, &fault), &fault)

    def __dealloc__(self):
        rag_title_filter_free(self.filter)
        free(self.parts)

    cdef rag_title_match *found_in(self, bytes raw, size_t *count) except? NULL:
        """Match the titles of all segments; the caller frees the result."""
        cdef rag_fault fault
        cdef rag_status status
        cdef rag_title_match *found = NULL
        cdef const uint8_t *at = raw
        cdef size_t size = len(raw)
        with nogil:
            status = rag_titles_match(self.parts, self.count, self.filter, at, size, self.rules,
                                      &found, count, &fault)
        check(status, &fault)
        return found

    def matches(self, text):
        """Return [(from, to, last, row)]: where titles stand in a text and where their last words
        begin, and the first row of each document, of up to five a segment."""
        cdef size_t i, count = 0
        cdef rag_title_match *found = self.found_in(text.encode("utf-8", "surrogatepass"), &count)
        try:
            return [(found[i].from_, found[i].to, found[i].last, found[i].row)
                    for i in range(count)]
        finally:
            free(found)

    def names(self, text):
        """Return [(name, rows)]: the names in a text from left to right, as they stand there, and
        the first rows of the documents with that title."""
        cdef size_t count = 0
        cdef rag_title_match *found = self.found_in(text.encode("utf-8", "surrogatepass"), &count)
        try:
            return names_in(text, found, count) if count else []
        finally:
            free(found)


cdef list names_in(text, rag_title_match *all, size_t count):
    cdef size_t i
    cdef bytes raw = text.encode("utf-8", "surrogatepass")
    found = []
    for i in range(rag_titles_choose(all, count)):
        if not i or all[i].from_ != all[i - 1].from_:
            found.append((raw[all[i].from_:all[i].to].decode("utf-8", "replace"), []))
        found[-1][1].append(all[i].row)
    return found


def names_of(text, matches):
    """Return Titles.names of a text whose matches were found elsewhere."""
    cdef size_t i, count = len(matches)
    cdef rag_title_match *all = <rag_title_match *>calloc(count + 1, sizeof(rag_title_match))
    if all == NULL:
        raise MemoryError
    try:
        for i, one in enumerate(matches):
            all[i].from_, all[i].to, all[i].last, all[i].row = one
        return names_in(text, all, count)
    finally:
        free(all)


cdef list kept(dict found, int64_t row, list names):
    """Keep the names of a passage, and return them; the passages before make room together."""
    if len(found) >= PASSAGES_KEPT:
        found.clear()
    found[row] = names
    return names


cdef class NamedPages:
    """The pages that the best passages of a ranking name, in a file with all its bytes at hand: the titles, the
    parts with the records, and (first row, Records, Stream of the texts) of each segment; the lexicons
    and the number of live rows for the weights. `links` is None, or a function from a row and
    its passage to the names that its links are."""

    cdef Titles titles
    cdef Parts parts
    cdef list texts
    cdef object lexicons, links
    cdef dict known  # the frequencies of the last names
    cdef dict names, targets  # of the last passages, by row
    cdef uint64_t live

    def __init__(self, Titles titles not None, Parts parts not None, texts, lexicons, uint64_t live,
                 links=None):
        self.links = links
        self.titles, self.parts, self.texts = titles, parts, list(texts)
        self.lexicons, self.live = lexicons, live
        self.known, self.names, self.targets = {}, {}, {}

    def lifts(self, const int64_t[::1] rows not None, const double[::1] scores not None, asked,
              double linked=0):
        """Return [(row, mass, row of the seed that names it most or None, the name there)] of the
        documents that the best rows of a ranking name, and the text `asked` unless it is None.
        A link counts as a name of the weight `linked`. What a passage names is kept for later
        questions."""
        cdef rag_fault fault
        cdef int64_t[RAG_NAMED_ROWS] documents
        cdef NamedEdges edges = NamedEdges()
        cdef size_t i, lead = 0
        if scores.shape[0] < rows.shape[0]:
            raise ValueError("every row has a score")
        while lead < min(RAG_NAMED_ROWS, <size_t>rows.shape[0]) and rows[lead] >= 0:
            lead += 1
        if not lead:
            return []
        check(rag_parts_first_rows(self.parts.parts, self.parts.count, &rows[0], lead, documents,
                                   &fault), &fault)
        edges.count = rag_named_seeds(&scores[0], documents, lead, edges.seeds, edges.at)
        for i in range(edges.count):
            edges.add(self.names_at(rows[edges.at[i]]), i, 0)
            if linked > 0 and self.links is not None:
                edges.add(self.targets_at(rows[edges.at[i]]), i, linked)
        if asked is not None and edges.count:
            edges.add(self.titles.names(asked), edges.count, 0)
        if not edges.texts:
            return []
        edges.weigh(self.frequencies(edges.names()), self.live)
        return edges.spread(rows, documents, lead)

    cdef list names_at(self, int64_t row):
        """Return the names in the passage of a row."""
        found = self.names.get(row)
        if found is None:
            found = kept(self.names, row, self.titles.names(self.passage(row)))
        return found

    cdef list targets_at(self, int64_t row):
        """Return the links in the passage of a row."""
        found = self.targets.get(row)
        if found is None:
            found = kept(self.targets, row, self.links(row, self.passage(row)))
        return found

    cdef passage(self, int64_t row):
        for base, records, texts in reversed(self.texts):
            if row >= base:
                return passage(records, texts, row - base)
        raise IndexError(f"no row {row}")

    cdef list frequencies(self, list texts):
        """Return the document frequency of the rarest term of each name."""
        cdef dict known = self.known
        cdef list new = [text for text in dict.fromkeys(texts) if text not in known]
        if new:
            if len(known) > NAMES_KEPT:
                known = self.known = {text: known[text] for text in texts if text in known}
            for text, df in zip(new, self.lexicons.rarest(new)):
                known[text] = df
        return [known[text] for text in texts]


cdef class NamedEdges:
    """The names in the seeds of one ranking: an edge for each document of a name, in order."""

    cdef rag_named_seed[RAG_NAMED_SEEDS] seeds
    cdef size_t[RAG_NAMED_SEEDS] at
    cdef size_t count, used, room
    cdef rag_named_edge *edges
    cdef list texts, numbers  # the names, and the number of each edge's name
    cdef set links  # the numbers of names that are links

    def __cinit__(self):
        self.texts, self.numbers, self.links = [], [], set()

    def __dealloc__(self):
        free(self.edges)

    cdef add(self, list names, uint32_t seed, double weight):
        """Add the names in the text of a seed, or its links with their weight: names have none yet."""
        for text, documents in names:
            self.grow(len(documents))
            if weight > 0:
                self.links.add(len(self.texts))
            self.texts.append(text)
            for document in documents:
                self.edges[self.used] = rag_named_edge(seed, document, weight)
                self.numbers.append(len(self.texts) - 1)
                self.used += 1

    cdef grow(self, size_t count):
        """Make room for further edges."""
        cdef rag_named_edge *grown = <rag_named_edge *>realloc(
            self.edges, (self.used + count + 1) * sizeof(rag_named_edge))
        if grown == NULL:
            raise MemoryError
        self.edges = grown

    cdef list names(self):
        """Return the names that are titles, in order."""
        if not self.links:
            return self.texts
        return [text for i, text in enumerate(self.texts) if i not in self.links]

    cdef weigh(self, list frequencies, uint64_t live):
        """Give each edge of a title its weight."""
        cdef size_t i, first = 0, end
        known = iter(frequencies)
        while first < self.used:
            number, end = self.numbers[first], first
            while end < self.used and self.numbers[end] == number:
                end += 1
            if number not in self.links:
                weight = rag_named_weight(live, next(known), end - first)
                for i in range(first, end):
                    self.edges[i].weight = weight
            first = end

    cdef list spread(self, const int64_t[::1] rows, const int64_t *documents, size_t lead):
        """Return the rows that rise: the first of each document in the lead, else its first row."""
        cdef rag_named_mass *out = <rag_named_mass *>calloc(self.used + 4, sizeof(rag_named_mass))
        cdef size_t i, j, count
        cdef list found = []
        if out == NULL:
            raise MemoryError
        try:
            count = rag_named_spread(self.seeds, self.count, self.edges, self.used, out)
            for i in range(count):
                j = 0
                while j < lead and documents[j] != out[i].document:
                    j += 1
                found.append((rows[j] if j < lead else out[i].document, out[i].mass,
                              *self.named_by(out + i, rows)))
        finally:
            free(out)
        return found

    cdef tuple named_by(self, const rag_named_mass *one, const int64_t[::1] rows):
        """Return the row of the seed that names a document most, or None, and the name there."""
        cdef size_t i, best = 0
        cdef double weight = 0
        if one.by == RAG_NAMED_BY_NONE:
            return None, ""
        for i in range(self.used):
            if (self.edges[i].seed == one.by and self.edges[i].document == one.document
                    and self.edges[i].weight > weight):
                weight, best = self.edges[i].weight, i
        return (rows[self.at[one.by]] if one.by < self.count else -1), self.texts[self.numbers[best]]


def named_weight(uint64_t rows, uint64_t df, size_t documents):
    """Return the weight of a name whose rarest term is in df of all rows, 0 if it does not count."""
    return rag_named_weight(rows, df, documents)


def named_seeds(const int64_t[::1] rows not None, const double[::1] scores not None,
                const int64_t[::1] documents not None):
    """Return [(row, document, share of the best score)] of the seeds of a ranking. documents has
    the first row of each row's document."""
    cdef rag_named_seed[3] seeds
    cdef size_t[3] at
    cdef size_t i, count = documents.shape[0]
    if scores.shape[0] < documents.shape[0] or rows.shape[0] < documents.shape[0]:
        raise ValueError("every row has a document")
    if not count:
        return []
    count = rag_named_seeds(&scores[0], &documents[0], count, seeds, at)
    return [(rows[at[i]], seeds[i].document, seeds[i].share) for i in range(count)]


def named_spread(seeds, names, frequencies, uint64_t live, links=(), double linked=0):
    """Return [(document, mass, row of the seed that names it most or None, the name there)] of the
    documents that seeds name, empty for none. names are those of the seeds and, after them, of
    the question, whose row is -1; frequencies has one number for each name. links are those of the
    seeds, names of the weight `linked`."""
    cdef size_t i, j, count = len(seeds), at = 0, found = 0
    cdef size_t most = sum([len(rows) for each in [*names, *links] for _, rows in each])
    cdef rag_named_seed[3] from_
    cdef rag_named_edge *to = <rag_named_edge *>calloc(most + 1, sizeof(rag_named_edge))
    cdef rag_named_mass *out = <rag_named_mass *>calloc(most + 4, sizeof(rag_named_mass))
    cdef double weight
    cdef list texts = []
    try:
        if to == NULL or out == NULL:
            raise MemoryError
        if count > 3:
            raise ValueError("a ranking has three seeds at most")
        for i, (_, document, share) in enumerate(seeds):
            from_[i].share, from_[i].document = share, document
        known = iter(frequencies)
        for i, each in enumerate(names):
            found_links = links[i] if i < <size_t>len(links) else []
            weights = [rag_named_weight(live, next(known), len(rows)) for _, rows in each]
            weights += [linked] * len(found_links)
            for (text, rows), weight in zip([*each, *found_links], weights):
                for document in rows if weight else ():
                    to[at].seed, to[at].document, to[at].weight = i, document, weight
                    texts.append(text)
                    at += 1
        found = rag_named_spread(from_, count, to, at, out)
        return [named_by(out + i, seeds, to, texts) for i in range(found)]
    finally:
        free(to)
        free(out)


cdef tuple named_by(const rag_named_mass *one, seeds, const rag_named_edge *edges, list texts):
    cdef size_t i, best = 0
    cdef double weight = 0
    if one.by == RAG_NAMED_BY_NONE:
        return one.document, one.mass, None, ""
    row = seeds[one.by][0] if one.by < <size_t>len(seeds) else -1
    for i in range(<size_t>len(texts)):
        if (edges[i].seed == one.by and edges[i].document == one.document
                and edges[i].weight > weight):
            weight, best = edges[i].weight, i
    return one.document, one.mass, row, texts[best]


def named_order(const int64_t[::1] rows not None, const double[::1] scores not None, lifts,
                double share):
    """Return (order int64, scores float64) of candidates after lifts, a dict from row to mass, or None if
    equal scores need keys. The first row stays first, with the next score above all others. Rows may come in
    any order after those that the ranking has."""
    import numpy

    cdef size_t i, at, count = rows.shape[0]
    cdef double one, top = scores[0] if count else 0
    order, raised = numpy.empty(count, numpy.int64), numpy.empty(count)
    cdef int64_t *to = <int64_t *>address_of(order)
    cdef double *by = <double *>address_of(raised)
    if <size_t>scores.shape[0] != count:
        raise ValueError("every row has a score")
    for i in range(count):
        mass = lifts.get(rows[i])
        one = scores[i] if mass is None else rag_named_raised(scores[i], top, share, mass)
        at = i
        while at > 1 and by[at - 1] < one:
            by[at], to[at] = by[at - 1], to[at - 1]
            at -= 1
        by[at], to[at] = one, <int64_t>i
    for i in range(2, count):
        if by[i] == by[i - 1] and (rows[to[i]] in lifts or rows[to[i - 1]] in lifts):
            return None
    if count > 1 and by[1] > by[0]:
        by[0] = nextafter(by[1], INFINITY)
    return order, raised


def named_raised(double score, double top, double share, double mass):
    """Return the score of a row whose document is named."""
    return rag_named_raised(score, top, share, mass)
