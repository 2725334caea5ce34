# Links between documents: the sections graph and hypergraph, and links in Markdown.

NO_STRING, NO_PLACE = <uint32_t>RAG_NO_STRING, <uint32_t>RAG_NO_PLACE
EDGE_FIELDS = ("document", "kind", "target", "start", "size", "fragment", "text")


cdef class FoundLinks:
    cdef list found
    cdef const uint8_t *raw
    cdef size_t at, chars
    cdef bint is_ascii

    # Links come in order, so one walk counts the code points before each.
    cdef size_t position(self, size_t at):
        if self.is_ascii:
            return at
        while self.at < at:
            self.chars += self.raw[self.at] & 0xC0 != 0x80
            self.at += 1
        return self.chars

    cdef str part(self, size_t at, size_t size):
        return PyUnicode_DecodeUTF8(<const char *>self.raw + at, size, SURROGATES)


cdef void take_link(void *context, const rag_link *link) noexcept with gil:
    cdef FoundLinks links = <FoundLinks>context
    start = links.position(link.at)
    end = links.position(link.at + link.size)
    links.found.append((link.kind, start, end, links.part(link.target, link.target_size),
                        links.part(link.text, link.text_size)))


def markdown_links(str text not None):
    """Return the links of a Markdown text as (kind, start, end, target, text), in order of their starts.

    Kinds: 0 an inline link or an HTML anchor, 1 a wikilink, 2 an embedded one, 3 a link whose target
    is defined elsewhere in the text.
    """
    cdef FoundLinks links = FoundLinks.__new__(FoundLinks)
    cdef rag_fault fault
    cdef bytes raw = text.encode("utf-8", "surrogatepass")
    links.found, links.raw = [], <const uint8_t *><const char *>raw
    links.is_ascii = len(raw) == len(text)
    check(rag_links_scan(links.raw, len(raw), take_link, <void *>links, &fault), &fault)
    return links.found


cdef class StoredLinks:
    """The content of a section graph or hypergraph of a segment with so many documents."""

    cdef rag_graph graph
    cdef Section owner

    def __cinit__(self, Section section not None, uint64_t documents):
        cdef rag_fault fault
        cdef rag_status status
        self.owner = section
        with nogil:
            status = rag_graph_open(&section.guard, documents, &self.graph, &fault)
        check(status, &fault)

    def __dealloc__(self):
        rag_graph_close(&self.graph)

    def __len__(self):
        return self.graph.edge_count

    def edges(self):
        """Return the edges in order of documents, uint32 with a column for each of EDGE_FIELDS."""
        import numpy

        found = numpy.empty((self.graph.edge_count, 7), numpy.uint32)
        if self.graph.edge_count:
            memcpy(address_of(found), self.graph.edges, self.graph.edge_count * sizeof(rag_edge))
        return found

    def strings(self):
        """Return all strings."""
        return [self.string(i) for i in range(self.graph.string_count)]

    cdef str string(self, uint32_t i):
        cdef rag_graph_string place = self.graph.strings[i]
        try:
            return PyUnicode_DecodeUTF8(<const char *>self.graph.bytes + place.at, place.size,
                                        SURROGATES)
        except UnicodeDecodeError:
            raise FormatError(f"a string of {self.owner.name} is not UTF-8",
                              section=self.owner.name) from None

    def kinds(self):
        """Return the names of the kinds."""
        return [self.string(self.graph.kinds[i]) for i in range(self.graph.kind_count)]

    def names(self):
        """Return (string, document) for each further name of a document."""
        return [(self.string(self.graph.names[i].string), self.graph.names[i].document)
                for i in range(self.graph.name_count)]

    def features(self):
        """Return (scope, bits, matrix) for each matrix, as float32 copies of checked bytes."""
        import numpy

        cdef uint32_t i
        cdef rag_fault fault
        found = []
        for i in range(self.graph.feature_count):
            one = self.graph.features[i]
            size = one.rows * one.width * (one.bits // 8)
            check(rag_guard_check(&self.owner.guard, one.at, size, &fault), &fault)
            raw = (<const char *>rag_guard_at(&self.owner.guard, one.at))[:size]
            matrix = numpy.frombuffer(raw, f"<f{one.bits // 8}").astype(numpy.float32)
            found.append((one.scope, one.bits, matrix.reshape(one.rows, one.width)))
        return found


def write_links(uint64_t documents, list strings not None, const uint32_t[::1] kinds not None,
                const uint32_t[:, ::1] names not None, const uint32_t[:, ::1] edges not None,
                list features not None, write):
    """Write a section graph or hypergraph through write(bytes).

    strings are UTF-8 in ascending order, names have columns (string, document), edges those of
    EDGE_FIELDS, and features are (scope, matrix) with f16 or f32 rows.
    """
    import numpy

    cdef Outlet outlet = Outlet.__new__(Outlet)
    cdef rag_fault fault
    cdef rag_status status
    cdef rag_graph graph
    cdef bytes joined = b"".join(strings)
    memset(&graph, 0, sizeof(graph))
    graph.bytes = <const uint8_t *><const char *>joined
    ends = numpy.cumsum([len(one) for one in strings], dtype=numpy.uint32)
    sizes = numpy.array([len(one) for one in strings], numpy.uint32)
    places = numpy.ascontiguousarray(numpy.stack([ends - sizes, sizes], axis=1))
    matrices = [(scope, numpy.ascontiguousarray(matrix)) for scope, matrix in features]
    held = bytearray(len(matrices) * sizeof(rag_graph_feature) + 1)
    cdef rag_graph_feature *feature = <rag_graph_feature *><char *>held
    for i, (scope, matrix) in enumerate(matrices):
        feature[i].scope, feature[i].width, feature[i].bits = scope, matrix.shape[1], 8 * matrix.itemsize
        feature[i].rows, feature[i].at, feature[i].data = matrix.shape[0], 0, address_of(matrix)
    if names.shape[1] != 2 or edges.shape[1] != 7:
        raise ValueError("names have two columns, edges seven")
    graph.string_count, graph.strings = len(strings), <rag_graph_string *>address_of(places)
    graph.kind_count, graph.kinds = kinds.shape[0], <uint32_t *>(&kinds[0] if kinds.shape[0] else NULL)
    graph.name_count = names.shape[0]
    graph.names = <rag_graph_name *>(&names[0, 0] if names.shape[0] else NULL)
    graph.edge_count = edges.shape[0]
    graph.edges = <rag_edge *>(&edges[0, 0] if edges.shape[0] else NULL)
    graph.feature_count, graph.features = len(matrices), feature
    outlet.write = write
    with nogil:
        status = rag_graph_write(&graph, documents, write_out, <void *>outlet, &fault)
    if outlet.error is not None:
        raise outlet.error
    check(status, &fault)


def reversed_lists(const uint32_t[::1] heads not None, uint32_t count):
    """Return (starts, order): the numbers of the edges to each of `count` heads, in ascending order."""
    import numpy

    starts, order = numpy.empty(count + 1, numpy.uint64), numpy.empty(len(heads), numpy.uint32)
    cdef uint64_t *first = <uint64_t *>address_of(starts)
    cdef uint32_t *numbers = <uint32_t *>address_of(order)
    cdef uint64_t edges = heads.shape[0]
    with nogil:
        rag_graph_reverse(&heads[0] if edges else NULL, edges, count, first, numbers)
    return starts, order[: int(starts[count])]


def walk_step(const uint64_t[::1] starts not None, const uint32_t[::1] heads not None,
              uint32_t damping, const uint64_t[::1] mass not None, uint64_t[::1] following not None):
    """Add to `following` what one step of a walk with restart moves along each list of edges."""
    cdef uint32_t count = mass.shape[0]
    if starts.shape[0] != count + 1 or following.shape[0] != count or (
            count and starts[count] > <uint64_t>heads.shape[0]):
        raise ValueError("a walk needs the lists and the mass of each node")
    cdef const uint32_t *first = &heads[0] if heads.shape[0] else NULL
    if count:
        with nogil:
            rag_graph_step(&starts[0], first, count, damping, &mass[0], &following[0])
