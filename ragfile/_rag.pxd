# rag.h in Cython's words: declarations only, in the order of the header.
from libc.stdint cimport int8_t, int16_t, uint8_t, uint16_t, uint32_t, uint64_t, int64_t


cdef extern from "stdbool.h" nogil:
    ctypedef bint cbool "bool"  # bint is an int, and functions of it are of another type


cdef extern from "rag.h" nogil:
    # status
    enum rag_status:
        RAG_OK, RAG_NOT_RAGFILE, RAG_FORMAT, RAG_VERSION, RAG_CORRUPT, RAG_LIMIT
        RAG_ARGUMENT, RAG_LOCKED, RAG_MEMORY, RAG_OS, RAG_SOURCE, RAG_STATUS_COUNT

    struct rag_fault:
        rag_status status
        int os_error
        uint64_t at
        const char *what
        char section[65]

    # this machine
    rag_status rag_init(const char *target)
    const char *rag_target()

    # hash
    uint64_t rag_hash(const void *bytes, size_t size)

    # threads
    int rag_cpu_count()

    # sections
    struct rag_piece:
        uint64_t at, size, hash
        cbool hashed

    struct rag_source:
        const uint8_t *bytes
        rag_status (*fetch)(void *context, const rag_piece *pieces, size_t count, cbool near,
                            rag_fault *fault) noexcept nogil
        void *context
        cbool kept

    struct rag_guard:
        const uint8_t *bytes
        uint64_t size
        const uint64_t *sums
        uint8_t *seen
        const rag_source *source
        uint64_t sums_hash

    struct rag_want:
        const rag_guard *guard
        uint64_t at, size

    rag_status rag_ready(const rag_want *wants, size_t count, rag_fault *fault)

    rag_status rag_guard_check(const rag_guard *guard, uint64_t at, uint64_t size, rag_fault *fault)
    const uint8_t *rag_guard_at(const rag_guard *guard, uint64_t at)

    struct rag_map:
        const uint8_t *bytes
        size_t size
        uint64_t device, inode

    rag_status rag_map_open(const char *path, rag_map *map, rag_fault *fault)
    rag_status rag_map_stat(const char *path, rag_map *map, rag_fault *fault)
    rag_status rag_map_descriptor(int fd, rag_map *map, rag_fault *fault)
    rag_status rag_map_exchange(int fd, const rag_map *map, rag_fault *fault)
    rag_status rag_map_copy(const char *path, uint64_t room, rag_map *map, rag_fault *fault)
    void rag_map_close(rag_map *map)
    int64_t rag_writer_pid(const char *path)

    struct rag_file:
        pass

    rag_status rag_file_create(const char *path, rag_file **file, rag_fault *fault)
    rag_status rag_file_edit(const char *path, rag_file **file, rag_fault *fault)
    rag_status rag_file_write(rag_file *file, uint64_t at, const void *bytes, size_t size,
                              rag_fault *fault)
    rag_status rag_file_truncate(rag_file *file, uint64_t size, rag_fault *fault)
    rag_status rag_file_map(rag_file *file, rag_map *map, rag_fault *fault)
    rag_status rag_file_publish(rag_file *file, cbool replace_own, rag_fault *fault)
    void rag_file_discard(rag_file *file)

    struct rag_header:
        uint8_t major, minor, patch
        cbool big_endian

    rag_status rag_header_read(const uint8_t *bytes, size_t size, rag_header *header,
                               rag_fault *fault)

    struct rag_reader:
        pass

    struct rag_commit:
        uint64_t generation, created, identity, start, end, previous, tail, lost_generation
        uint32_t entries, segments, next_segment
        cbool read_only
        const char *message
        size_t message_size

    struct rag_entry:
        const char *name
        uint32_t segment, flags
        uint64_t generation, at, size, items, extent

    struct rag_segment_record:
        uint32_t number
        uint64_t rows, live, generation

    struct rag_verdict:
        uint64_t sections, blocks, commits, abandoned, faults

    rag_status rag_reader_open(const uint8_t *bytes, size_t size, uint64_t generation,
                               rag_reader **reader, rag_fault *fault)
    rag_status rag_reader_open_source(const rag_source *source, uint64_t size, uint64_t generation,
                                      rag_reader **reader, rag_fault *fault)
    void rag_reader_close(rag_reader *reader)
    void rag_reader_commit(const rag_reader *reader, rag_commit *commit)
    void rag_reader_entry(const rag_reader *reader, uint32_t i, rag_entry *entry)
    void rag_reader_segment(const rag_reader *reader, uint32_t i, rag_segment_record *segment)
    int64_t rag_reader_find(const rag_reader *reader, const char *name, uint32_t segment)
    rag_status rag_reader_guard(rag_reader *reader, uint32_t i, rag_guard *guard, rag_fault *fault)
    rag_status rag_reader_seal(rag_reader *reader, uint32_t i, const uint8_t *leaves,
                               rag_fault *fault)
    int RAG_LEAF
    void rag_seal_leaf(const uint8_t *bytes, size_t size, uint8_t *out)
    void rag_reader_verify(rag_reader *reader, cbool full,
                           void (*report)(void *context, const rag_fault *fault) noexcept nogil,
                           void *context, rag_verdict *verdict)

    struct rag_writer:
        pass

    rag_status rag_writer_create(const char *path, rag_writer **writer, rag_fault *fault)
    rag_status rag_writer_edit(const char *path, rag_writer **writer, rag_fault *fault)
    rag_reader *rag_writer_take_reader(rag_writer *writer)
    rag_map rag_writer_take_map(rag_writer *writer)
    rag_status rag_writer_replace(rag_writer *editor, rag_writer **writer, rag_fault *fault)
    rag_status rag_writer_segment(rag_writer *writer, uint32_t *number, rag_fault *fault)
    rag_status rag_writer_rows(rag_writer *writer, uint32_t segment, uint64_t rows, uint64_t live,
                               rag_fault *fault)
    void rag_writer_forget(rag_writer *writer, uint32_t segment)
    rag_status rag_section_begin(rag_writer *writer, const char *name, uint32_t segment,
                                 uint32_t flags, uint64_t *at, rag_fault *fault)
    rag_status rag_section_write(rag_writer *writer, const void *bytes, size_t size,
                                 rag_fault *fault)
    struct rag_fine:
        rag_guard guard
        uint32_t grain, count

    rag_status rag_fine_open(rag_fine *fine, rag_fault *fault)
    void rag_fine_entry(const rag_fine *fine, uint32_t i, uint64_t *at, uint64_t *size,
                        uint64_t *sums_at)
    void rag_writer_grain(rag_writer *writer, uint32_t grain)
    rag_status rag_writer_fine(rag_writer *writer, uint32_t segment, rag_fault *fault)
    rag_status rag_section_end(rag_writer *writer, uint64_t items, rag_fault *fault)
    rag_status rag_section_drop(rag_writer *writer, const char *name, uint32_t segment,
                                rag_fault *fault)
    void rag_writer_parity(rag_writer *writer, unsigned percent, cbool anew)
    rag_status rag_writer_commit(rag_writer *writer, uint64_t created, const char *message,
                                 size_t message_size, rag_fault *fault)
    void rag_writer_discard(rag_writer *writer)

    # repair
    struct rag_repair:
        pass

    struct rag_mended:
        uint64_t at, size
        cbool lost

    rag_status rag_repair_open(const uint8_t *bytes, uint64_t size, rag_repair **repair,
                               rag_fault *fault)
    uint64_t rag_repair_size(const rag_repair *repair)
    uint32_t rag_repair_sections(const rag_repair *repair)
    rag_status rag_repair_run(rag_repair *repair, uint8_t *bytes, cbool check,
                              void (*report)(void *context,
                                             const rag_mended *mended) noexcept nogil,
                              void *context, rag_fault *fault)
    void rag_repair_close(rag_repair *repair)

    # records
    struct rag_records:
        rag_guard chunks, documents, ids
        uint64_t rows, count

    struct rag_document:
        const uint8_t *id
        uint32_t id_size
        uint64_t blob_at
        uint32_t text_size, blob_size, text_chars
        cbool has_text
        uint64_t meta_at
        uint32_t meta_size
        uint64_t first_row
        uint32_t rows

    struct rag_chunk:
        uint32_t document, index, start, size, char_start, char_size
        uint64_t meta_at
        uint32_t meta_size

    const uint32_t RAG_NO_SPAN
    const size_t RAG_CHUNK_SIZE
    const size_t RAG_DOCUMENT_SIZE
    const size_t RAG_REFERENCE_SIZE

    rag_status rag_records_open(rag_records *records, rag_fault *fault)
    rag_status rag_records_chunk(const rag_records *records, uint64_t row, rag_chunk *chunk,
                                 rag_fault *fault)
    rag_status rag_records_document(const rag_records *records, uint64_t i, rag_document *document,
                                    rag_fault *fault)
    rag_status rag_records_place(const rag_records *records, uint64_t i, rag_document *document,
                                 uint64_t *id_at, rag_fault *fault)
    rag_status rag_records_find(const rag_records *records, const uint8_t *id, size_t size,
                                uint64_t *i, rag_fault *fault)
    rag_status rag_records_row(const rag_records *records, uint64_t document, uint32_t index,
                               uint64_t *row, rag_fault *fault)
    rag_status rag_records_sample(const rag_records *records, const uint64_t *live,
                                  uint64_t *hashes, uint64_t *rows, size_t k, size_t *found,
                                  rag_fault *fault)
    void rag_moments(const float *scores, double *room, size_t count, double *mean,
                     double *deviation)
    void rag_chunk_store(uint8_t *out, const rag_chunk *chunk)
    void rag_document_store(uint8_t *out, const rag_document *document)
    const size_t RAG_STRINGS_HEAD
    uint64_t rag_strings_offset(uint64_t i)

    ctypedef rag_status (*rag_write)(void *context, const void *bytes, size_t size)

    struct rag_ids:
        pass
    rag_ids *rag_ids_new()
    void rag_ids_free(rag_ids *ids)
    uint32_t rag_ids_count(const rag_ids *ids)
    rag_status rag_ids_number(rag_ids *ids, const uint8_t *bytes, size_t size, uint32_t *number,
                              rag_fault *fault)
    cbool rag_ids_find(const rag_ids *ids, const uint8_t *bytes, size_t size, uint32_t *number)
    const uint8_t *rag_ids_at(const rag_ids *ids, uint32_t number, size_t *size)
    rag_status rag_ids_order(const rag_ids *ids, uint32_t *order, rag_fault *fault)
    rag_status rag_ids_write(const rag_ids *ids, const uint32_t *order, rag_write write,
                             void *context, rag_fault *fault)

    # streams
    size_t rag_value_integer(uint8_t *out, int64_t integer)
    size_t rag_value_number(uint8_t *out, double floor, uint16_t rest)
    size_t rag_value_text(uint8_t *out, const uint8_t *raw, size_t size)

    struct rag_columns_limits:
        uint32_t value, bytes_a_row
        uint64_t values, held, free_bytes

    struct rag_columns_builder:
        pass
    rag_status rag_columns_new(const rag_columns_limits *limits,
                               double (*decimal)(void *context, const char *digits,
                                                 size_t size) noexcept nogil,
                               void *context, rag_columns_builder **builder, rag_fault *fault)
    rag_status rag_columns_document(rag_columns_builder *builder, const uint8_t *json, size_t size,
                                    rag_fault *fault)
    rag_status rag_columns_rows(rag_columns_builder *builder, const uint8_t *json, size_t size,
                                uint64_t count, rag_fault *fault)
    cbool rag_columns_are_plain(rag_columns_builder *builder, const uint8_t *json, size_t size)
    void rag_columns_spoil(rag_columns_builder *builder)
    cbool rag_columns_are_spoilt(const rag_columns_builder *builder)
    rag_status rag_columns_finish(rag_columns_builder *builder,
                                  rag_status (*write)(void *context, const void *bytes,
                                                      size_t size) noexcept nogil,
                                  void *context, rag_fault *fault)
    void rag_columns_free(rag_columns_builder *builder)

    struct rag_columns:
        rag_guard guard
        uint64_t rows, data
        uint32_t count
        cbool is_partial

    rag_status rag_columns_open(rag_columns *columns, uint64_t rows, rag_fault *fault)
    int64_t rag_columns_find(const rag_columns *columns, const uint8_t *name, size_t size,
                             cbool is_tags)
    cbool rag_columns_has_values(const rag_columns *columns, uint32_t i)
    void rag_columns_name(const rag_columns *columns, uint32_t i, const uint8_t **name,
                          size_t *size, cbool *is_tags)
    void rag_columns_place(const rag_columns *columns, uint32_t i, uint64_t *at, uint64_t *size)

    struct rag_column:
        uint64_t rows
        uint32_t width, special, numbers, texts, lists, objects, values
        const uint8_t *codes
        const uint8_t *floors

    rag_status rag_column_open(const rag_columns *columns, uint32_t i, rag_column *column,
                               rag_fault *fault)
    rag_status rag_column_find(const rag_column *column, const uint8_t *value, size_t size,
                               uint32_t *low, uint32_t *high, rag_fault *fault)
    void rag_column_kind(const rag_column *column, int kind, uint32_t *low, uint32_t *high)
    void rag_column_rows(const rag_column *column, uint32_t low, uint32_t high, uint64_t *words)
    void rag_column_rows_of(const rag_column *column, const uint8_t *chosen, uint32_t count,
                            uint64_t *words)
    void rag_column_holding(const rag_column *column, const uint8_t *value, size_t size,
                            uint8_t *chosen)
    void rag_column_containing(const rag_column *column, const uint8_t *part, size_t size,
                               uint8_t *chosen)
    size_t rag_column_value(const rag_column *column, uint32_t code, uint8_t *out)

    struct rag_stream:
        rag_guard guard
        uint64_t raw_size, block_size, blocks, table_at

    struct rag_block:
        const uint8_t *bytes
        uint64_t at
        size_t size, raw_size
        cbool compressed

    rag_status rag_stream_open(rag_stream *stream, rag_fault *fault)
    rag_status rag_stream_block(const rag_stream *stream, uint64_t i, rag_block *block,
                                rag_fault *fault)
    rag_status rag_stream_place(const rag_stream *stream, uint64_t i, rag_block *block,
                                rag_fault *fault)
    const size_t RAG_STREAM_TRAILER
    size_t rag_stream_gap(uint64_t end)
    void rag_stream_end(uint8_t *out, uint64_t end, cbool compressed)
    void rag_stream_trailer(uint8_t *out, uint64_t raw_size, uint64_t block_size, uint64_t blocks,
                            uint64_t table_at)

    # vectors in 1.0 files
    struct rag_vectors:
        uint32_t dim, bits
        uint64_t rows, stride, at

    const size_t RAG_VECTOR_HEAD

    void rag_vector_head(uint8_t *out, uint64_t at, uint32_t dim, uint32_t bits, uint64_t rows)
    void rag_vector_rows(uint8_t *out, const uint8_t *components, size_t row_size, uint64_t first,
                         size_t rows)
    rag_status rag_vector_open(const rag_guard *guard, uint64_t section_at, rag_vectors *vectors,
                               rag_fault *fault)

    # (pairs)
    enum:
        RAG_HEADER_SIZE, RAG_DIRECTORY_MAX, RAG_KEYWORD_PREAMBLE, RAG_VECTOR_PREAMBLE
        RAG_EXTENSION_SIZE, RAG_KEYS_HEADER, RAG_EXTENSION_HASHED

    struct rag_strategy:
        uint64_t start, end
        char name[65]

    struct rag_directory:
        uint8_t major, minor, patch
        cbool big_endian
        uint32_t size, count
        rag_strategy *entries

    rag_status rag_directory_read(const uint8_t *bytes, uint64_t size, rag_directory *directory,
                                  rag_fault *fault)
    rag_status rag_directory_read_reference(const uint8_t *bytes, uint64_t size,
                                            rag_directory *directory, rag_fault *fault)
    void rag_directory_free(rag_directory *directory)
    uint64_t rag_directory_place(rag_directory *directory, int digits)
    rag_status rag_directory_write(const rag_directory *directory, int digits, uint8_t *out,
                                   size_t capacity, size_t *size, rag_fault *fault)

    struct rag_pairs:
        const uint8_t *bytes
        uint64_t size, at
        uint8_t padding, precision
        cbool big_endian, extended
        uint32_t dim, stride, flags
        uint64_t count, hash, head

    struct rag_pair:
        uint64_t at, head_size, content_at, content_size

    rag_status rag_keyword_pairs_open(const uint8_t *section, uint64_t size, uint64_t at,
                                      cbool big_endian, rag_pairs *pairs, rag_fault *fault)
    rag_status rag_vector_pairs_open(const uint8_t *section, uint64_t size, uint64_t at,
                                     cbool big_endian, rag_pairs *pairs, rag_fault *fault)
    rag_status rag_pairs_set_dim(rag_pairs *pairs, uint64_t dim, rag_fault *fault)
    rag_status rag_pairs_infer(const rag_pairs *pairs, uint32_t *dims, size_t capacity,
                               size_t *count, rag_fault *fault)
    rag_status rag_pairs_next(const rag_pairs *pairs, uint64_t *cursor, rag_pair *pair,
                              rag_fault *fault)
    rag_status rag_pairs_walk(const rag_pairs *pairs, uint64_t *offsets, uint64_t capacity,
                              uint64_t *count, uint64_t *stride, rag_fault *fault)
    rag_status rag_pairs_gather(const rag_pairs *pairs, const uint64_t *offsets, uint64_t stride,
                                uint64_t count, uint8_t *out, rag_fault *fault)

    struct rag_span:
        uint64_t at, size

    struct rag_spans:
        rag_span *items
        size_t count, capacity

    void rag_spans_free(rag_spans *spans)
    rag_status rag_pairs_lookup(const rag_pairs *pairs, const uint8_t *key, size_t key_size,
                                rag_spans *spans, rag_fault *fault)

    struct rag_keys:
        const uint8_t *entries
        uint64_t count
        cbool big_endian
        uint64_t at, hash

    rag_status rag_keys_open(const uint8_t *section, uint64_t size, uint64_t at, cbool big_endian,
                             const rag_pairs *pairs, rag_keys *keys, rag_fault *fault)
    rag_status rag_keys_lookup(const rag_keys *keys, const rag_pairs *pairs, const uint8_t *key,
                               size_t key_size, rag_spans *spans, rag_fault *fault)
    rag_status rag_keys_verify(const rag_keys *keys, const rag_pairs *pairs, rag_fault *fault)
    rag_status rag_keys_build(const rag_pairs *pairs, uint64_t count, uint8_t *section,
                              rag_fault *fault)

    void rag_keyword_preamble_write(const rag_pairs *pairs, uint8_t *out)
    void rag_vector_preamble_write(const rag_pairs *pairs, uint8_t *out)
    rag_status rag_keyword_check(const uint8_t *text, size_t size, rag_fault *fault)
    rag_status rag_content_check(const uint8_t *text, size_t size, rag_fault *fault)
    rag_status rag_row_write(const uint8_t *row, uint32_t dim, uint8_t precision, cbool big_endian,
                             cbool allow_nonfinite, uint8_t *out, rag_fault *fault)

    enum rag_survival:
        RAG_RECORD_CERTAIN, RAG_RECORD_AMBIGUOUS, RAG_RECORD_DAMAGED

    struct rag_remnant:
        rag_survival kind
        uint64_t at, size
        rag_pair pair

    struct rag_remnants:
        rag_remnant *items
        size_t count, capacity
        cbool clean

    rag_status rag_reference_open(const uint8_t *bytes, uint64_t size,
                                  const rag_directory *directory, uint32_t index, rag_pairs *pairs,
                                  uint64_t *damaged, rag_fault *fault)
    rag_status rag_reference_walk(const rag_pairs *pairs, uint64_t damaged, rag_remnants *remnants,
                                  rag_fault *fault)
    void rag_remnants_free(rag_remnants *remnants)

    # .ragmd and FAISS
    struct rag_base64_rows:
        size_t head, row

    size_t rag_base64_wrap(const rag_base64_rows *rows, const uint8_t *data, size_t size,
                           size_t *at, char *out, size_t room)
    rag_status rag_base64_unwrap(const uint8_t *text, size_t size, uint8_t *out, size_t *written,
                                 rag_fault *fault)

    enum rag_mark:
        RAG_MARK_HEADING, RAG_MARK_OPEN, RAG_MARK_CLOSE

    struct rag_marks:
        rag_mark kind
        size_t at, end, next
        size_t length

    size_t rag_json_depth(const uint8_t *text, size_t size, size_t limit, size_t *at)
    cbool rag_marks_next(const uint8_t *text, size_t size, rag_marks *marks)

    enum:
        RAG_FAISS_FLAT_HEAD

    struct rag_faiss:
        char kind[5]
        uint32_t dim, metric
        uint64_t count
        size_t rows_at

    rag_status rag_faiss_read(const uint8_t *data, size_t size, rag_faiss *index, rag_fault *fault)
    void rag_faiss_flat_head(uint32_t dim, uint64_t count, cbool inner_product, uint8_t *head)

    # (vectors)
    enum rag_scalar:
        RAG_F16, RAG_F32, RAG_F64

    enum rag_metric:
        RAG_COSINE, RAG_IP, RAG_L2

    struct rag_matrix:
        rag_guard guard
        uint64_t at, stride, count
        const uint64_t *offsets
        uint32_t dim
        rag_scalar scalar
        cbool big_endian

    struct rag_shadow:
        uint64_t group_rows
        uint32_t kept

    struct rag_clusters:
        rag_guard guard
        uint64_t order_at
        uint32_t count

    struct rag_clustering:
        pass

    void rag_clusters_close(rag_clusters *clusters)
    rag_status rag_clusters_open(rag_clusters *clusters, const rag_guard *section,
                                 const rag_matrix *matrix, rag_fault *fault)
    uint32_t rag_clusters_start(const rag_clusters *clusters, uint32_t cluster)
    rag_status rag_clusters_check(const rag_clusters *clusters, const rag_shadow *shadow,
                                  const rag_matrix *matrix, rag_fault *fault)
    rag_status rag_clustering_choose(const rag_matrix *matrix, uint64_t wanted, int threads,
                                     rag_clustering **clustering, rag_fault *fault)
    void rag_clustering_free(rag_clustering *clustering)
    uint32_t rag_clustering_count(const rag_clustering *clustering)
    const uint32_t *rag_clustering_order(const rag_clustering *clustering)
    rag_status rag_clustering_measure(rag_clustering *clustering, const rag_matrix *placed,
                                      rag_fault *fault)
    uint64_t rag_clustering_size(const rag_clustering *clustering)
    rag_status rag_clustering_write(const rag_clustering *clustering, rag_write write,
                                    void *context)

    struct rag_segment:
        const rag_matrix *matrix
        const rag_shadow *shadow
        const uint64_t *where
        const rag_clusters *clusters

    struct rag_filters:
        const uint64_t **sets
        const uint32_t *of_ "of"
        size_t count

    struct rag_question:
        const float *queries
        size_t count
        uint32_t dim
        rag_metric metric
        uint64_t k
        int threads
        const float *least
        const rag_filters *filters
        double effort
        double *recall

    rag_status rag_matrix_check(const rag_matrix *matrix, rag_fault *fault)
    struct rag_rotation:
        pass

    rag_status rag_rotation_choose(const rag_matrix *matrix, rag_rotation **rotation,
                                   rag_fault *fault)
    void rag_rotation_free(rag_rotation *rotation)
    uint64_t rag_shadow_size(const rag_matrix *matrix, const rag_rotation *rotation)
    rag_status rag_shadow_build(const rag_matrix *matrix, const rag_rotation *rotation,
                                rag_write write, void *context, rag_fault *fault)
    rag_status rag_shadow_open(rag_shadow *shadow, const rag_guard *section,
                               const rag_matrix *matrix, rag_fault *fault)
    rag_status rag_shadow_check(const rag_shadow *shadow, const rag_matrix *matrix,
                                rag_fault *fault)
    rag_status rag_nearest(const rag_segment *segments, size_t segment_count,
                           const rag_question *question, int64_t *rows, float *scores,
                           rag_fault *fault)
    rag_status rag_scores(const rag_matrix *matrix, const rag_question *question,
                          const int64_t *rows, size_t row_count, float *scores, rag_fault *fault)
    struct rag_bounds:
        float lower, upper
    rag_status rag_shadow_bounds(const rag_shadow *shadow, const rag_question *question,
                                 const int64_t *rows, size_t row_count, rag_bounds *bounds,
                                 rag_fault *fault)
    struct rag_sample:
        const float *rows
        double *squares
        size_t count
        uint32_t dim
        rag_metric metric

    rag_status rag_sample_squares(rag_sample *sample, rag_fault *fault)
    rag_status rag_sample_moments(const rag_sample *sample, const float *query, double *mean,
                                  double *deviation, rag_fault *fault)
    enum:
        RAG_SAMPLE_HEAD

    struct rag_stored_sample:
        rag_guard guard
        uint64_t count, at

    rag_status rag_stored_sample_open(rag_stored_sample *sample, uint64_t rows, uint32_t dim,
                                      uint32_t bits, rag_fault *fault)
    void rag_stored_sample_entry(const rag_stored_sample *sample, uint64_t i, uint64_t *hash,
                                 uint64_t *row)
    void rag_stored_sample_head(uint8_t *out, uint64_t count, uint32_t dim, uint32_t bits)
    uint64_t rag_stored_sample_vectors(uint64_t count)
    size_t rag_first_not_finite(const float *values, size_t count)
    void rag_bits_pack(const uint8_t *bytes, uint64_t count, uint64_t *words)
    void rag_bits_unpack(const uint64_t *words, uint64_t count, uint8_t *bytes)
    void rag_bitmap_store(uint8_t *out, const uint8_t *bytes, uint64_t count)
    cbool rag_bitmap_has(const uint8_t *bitmap, uint64_t i)
    void rag_bitmap_rest(const uint8_t *bitmap, uint64_t count, uint64_t *words)

    # fusion
    struct rag_calibration:
        double best, mean, deviation, weight

    rag_status rag_calibrated_rank(const rag_calibration *by, const float *bm25, const float *dense,
                                   const int64_t *ties, size_t count, int64_t *order,
                                   double *scores, rag_fault *fault)
    float rag_calibrated_least(const rag_calibration *by, const float *bm25, const float *dense,
                               size_t count, size_t k, float rest)
    double rag_calibrated_score(const rag_calibration *by, float bm25, float dense)

    struct rag_part:
        uint64_t base, rows
        const rag_records *records
        const rag_matrix *matrix

    rag_status rag_merge(const rag_part *parts, size_t part_count, int64_t *rows, float *scores,
                         size_t count, size_t k, int threads, int64_t *to, float *best,
                         rag_fault *fault) nogil

    enum rag_method:
        RAG_CALIBRATED, RAG_RRF, RAG_BLEND

    struct rag_fusion:
        rag_method method
        double parameter
        const rag_part *parts
        size_t part_count
        const rag_lexical_leg *legs
        size_t leg_count
        const rag_lexical_stats *stats
        const rag_queries *queries
        const float *vectors
        uint32_t dim
        rag_metric metric
        const rag_sample *sample
        size_t count, depth
        int threads

    struct rag_fused:
        int64_t *rows
        double *scores
        float *bm25
        float *near
        size_t width

    rag_status rag_fusion_near(const rag_fusion *fusion, const int64_t *rows, const float *bm25,
                               size_t k, float *near, double *moments, float *least,
                               rag_fault *fault) nogil
    rag_status rag_fusion_rank(const rag_fusion *fusion, const int64_t *word_rows,
                               const float *bm25, const float *near, const double *moments,
                               const int64_t *dense_rows, const float *dense,
                               const rag_fused *out, rag_fault *fault) nogil

    struct rag_hybrid:
        rag_fusion fusion
        rag_segment segment
        const rag_filters *filters
        size_t k
        cbool wants_least

    struct rag_spent:
        double words, fusing, vectors

    rag_status rag_hybrid_answer(const rag_hybrid *asked, const rag_fused *out, rag_spent *spent,
                                 rag_fault *fault) nogil

    # (bm25)
    struct rag_word:
        const uint8_t *bytes
        size_t size
        int kind
        size_t from_ "from"
        size_t to

    void rag_mentions(const uint8_t *text, size_t size, const uint8_t *heads,
                      void (*sink)(void *context, size_t number, const uint8_t *word,
                                   size_t size) noexcept nogil,
                      void *context)
    enum:
        RAG_STRIP_ACCENTS
        RAG_PIECES
    void rag_analyze(const uint8_t *text, size_t size, unsigned rules,
                     void (*sink)(void *context, const rag_word *word) noexcept nogil,
                     void *context)
    const char *rag_unicode_version()
    double rag_bm25_idf(uint64_t rows, uint64_t df)

    struct rag_vocabulary:
        pass
    rag_vocabulary *rag_vocabulary_new()
    void rag_vocabulary_free(rag_vocabulary *vocabulary)
    const uint8_t *rag_vocabulary_pending(const rag_vocabulary *vocabulary, size_t *size)
    rag_status rag_vocabulary_resolve(rag_vocabulary *vocabulary, const uint8_t *terms, size_t size,
                                      rag_fault *fault)
    size_t rag_vocabulary_size(const rag_vocabulary *vocabulary)

    struct rag_sink:
        int (*write)(void *context, const void *bytes, size_t size) noexcept nogil
        void *context
    struct rag_spill:
        int (*write)(void *context, const void *bytes, size_t size) noexcept nogil
        int (*read)(void *context, uint64_t at, void *bytes, size_t size) noexcept nogil
        void *context

    struct rag_lexical_builder:
        pass
    rag_lexical_builder *rag_lexical_builder_new(double k1, double b, unsigned rules,
                                                 size_t memory, rag_spill spill)
    void rag_lexical_builder_free(rag_lexical_builder *builder)
    rag_vocabulary *rag_lexical_builder_vocabulary(rag_lexical_builder *builder)
    rag_status rag_lexical_builder_text(rag_lexical_builder *builder, const uint8_t *text,
                                        size_t size, uint32_t weight, rag_fault *fault)
    rag_status rag_lexical_builder_end_row(rag_lexical_builder *builder, rag_fault *fault)
    rag_status rag_lexical_builder_commit(rag_lexical_builder *builder, rag_fault *fault)
    rag_status rag_lexical_builder_finish(rag_lexical_builder *builder, const uint8_t *config,
                                          size_t config_size, rag_sink postings, rag_sink terms,
                                          rag_fault *fault)

    struct rag_lexicon:
        pass
    struct rag_lexicon_info:
        uint64_t rows, terms, total_length, postings
        double k1, b
        const uint8_t *config
        size_t config_size
    rag_status rag_lexicon_open(const rag_guard *terms, const rag_guard *postings,
                                rag_lexicon **lexicon, rag_fault *fault)
    void rag_lexicon_close(rag_lexicon *lexicon)
    # the function shares its name with the struct
    void lexicon_info "rag_lexicon_info"(const rag_lexicon *lexicon, rag_lexicon_info *info)

    uint64_t rag_bits_count(const uint64_t *words, uint64_t count)
    struct rag_lexical_stats:
        uint64_t rows, total_length
        double k1, b
        const uint32_t *weights
        size_t weight_count
    rag_status rag_lexicon_fields(rag_lexicon *lexicon, rag_lexicon *const *fields,
                                  const uint32_t *weights, size_t count, rag_fault *fault)
    rag_status rag_lexicon_length(const rag_lexicon *lexicon, const uint64_t *where,
                                  uint64_t *total, rag_fault *fault)
    struct rag_query_term:
        const uint8_t *bytes
        uint32_t size, count
        uint64_t df
    rag_status rag_lexicon_df(const rag_lexicon *lexicon, const uint8_t *term, size_t size,
                              const uint64_t *where, uint64_t *df, rag_fault *fault)
    rag_status rag_lexicon_place(const rag_lexicon *lexicon, const uint8_t *term, size_t term_size,
                                 uint64_t *at, uint64_t *size, rag_fault *fault)
    rag_status rag_lexicon_rows(const rag_lexicon *lexicon, const uint8_t *term, size_t size,
                                uint32_t *rows, uint32_t *tfs, uint64_t capacity, uint64_t *count,
                                rag_fault *fault)
    rag_status rag_lexicon_block(const rag_lexicon *lexicon, uint64_t block, uint8_t *out,
                                 size_t *size, rag_fault *fault)
    rag_status rag_lexicon_lengths(const rag_lexicon *lexicon, uint32_t *lengths, rag_fault *fault)
    rag_status rag_lexicon_score(rag_lexicon *lexicon, const rag_query_term *terms, size_t count,
                                 const rag_lexical_stats *stats, const int64_t *rows,
                                 size_t row_count, float *scores, rag_fault *fault)

    struct rag_queries:
        pass
    rag_status rag_lexicon_beginning(const rag_lexicon *lexicon, const uint8_t *prefix,
                                     size_t count,
                                     void (*sink)(void *context, const uint8_t *term,
                                                  size_t size) noexcept nogil,
                                     void *context, rag_fault *fault) nogil
    rag_status rag_lexicon_near(const rag_lexicon *lexicon, const uint8_t *word, size_t count,
                                unsigned edits,
                                void (*sink)(void *context, const uint8_t *term,
                                             size_t size) noexcept nogil,
                                void *context, rag_fault *fault) nogil
    rag_status rag_queries_whole(rag_queries *queries, rag_vocabulary *vocabulary,
                                 const uint8_t *term, size_t size, rag_fault *fault)
    rag_queries *rag_queries_new()
    void rag_queries_free(rag_queries *queries)
    rag_status rag_queries_add(rag_queries *queries, rag_vocabulary *vocabulary,
                               const uint8_t *text, size_t size, unsigned rules,
                               rag_fault *fault)
    rag_status rag_queries_finish(rag_queries *queries, const rag_vocabulary *vocabulary,
                                  rag_fault *fault)
    rag_query_term *rag_queries_terms(const rag_queries *queries, size_t i, size_t *count)
    rag_status rag_lexicon_search_batch(rag_lexicon *lexicon, const rag_queries *queries,
                                        size_t count, const rag_lexical_stats *stats,
                                        const uint64_t *where, const rag_filters *filters, size_t k,
                                        int threads, int64_t *rows, float *scores, rag_fault *fault)

    struct rag_lexical_leg:
        rag_lexicon *lexicon
        const uint64_t *alive
        const uint64_t *where
        uint64_t base
    rag_status rag_lexicons_count(const rag_lexical_leg *legs, size_t leg_count,
                                  rag_queries *queries, size_t count, rag_fault *fault)
    rag_status rag_lexicons_count_fields(const rag_lexical_leg *legs, size_t leg_count,
                                         rag_queries *queries, size_t count,
                                         const rag_lexical_stats *stats, rag_fault *fault)
    rag_status rag_lexicons_search(const rag_lexical_leg *legs, size_t leg_count,
                                   const rag_queries *queries, size_t count,
                                   const rag_lexical_stats *stats, const rag_filters *filters,
                                   size_t k, int threads, int64_t *rows, float *scores, rag_fault *fault)
    rag_status rag_lexicons_score(const rag_lexical_leg *legs, size_t leg_count,
                                  const rag_query_term *terms, size_t count,
                                  const rag_lexical_stats *stats, const int64_t *rows,
                                  size_t row_count, float *scores, rag_fault *fault)
    rag_status rag_queries_term(rag_queries *queries, const uint8_t *bytes, size_t size,
                                uint32_t count, uint64_t df, rag_fault *fault)
    rag_status rag_queries_end(rag_queries *queries, rag_fault *fault)
    void rag_queries_seal(rag_queries *queries)

    struct rag_frequencies:
        rag_guard guard
        rag_lexical_stats stats
        uint64_t terms, blocks_at
        const uint8_t *config
        size_t config_size
    rag_status rag_frequencies_open(const rag_guard *guard, rag_frequencies *frequencies,
                                    rag_fault *fault)
    rag_status rag_frequencies_find(const rag_frequencies *frequencies, const uint8_t *term,
                                    size_t size, uint64_t *rows, rag_fault *fault)
    rag_status rag_frequencies_place(const rag_frequencies *frequencies, const uint8_t *term,
                                     size_t size, uint64_t *at, uint64_t *bytes)
    rag_status rag_frequencies_beginning(const rag_frequencies *frequencies, const uint8_t *prefix,
                                         size_t count,
                                         void (*sink)(void *context, const uint8_t *term,
                                                      size_t size, uint64_t rows) noexcept nogil,
                                         void *context, rag_fault *fault) nogil
    rag_status rag_frequencies_near(const rag_frequencies *frequencies, const uint8_t *word,
                                    size_t count, unsigned edits,
                                    void (*sink)(void *context, const uint8_t *term,
                                                 size_t size, uint64_t rows) noexcept nogil,
                                    void *context, rag_fault *fault) nogil
    rag_status rag_frequencies_set(const rag_frequencies *frequencies, rag_queries *queries,
                                   size_t count, rag_fault *fault) nogil
    struct rag_frequency_part:
        const rag_lexicon *lexicon
        const uint64_t *alive
        const rag_frequencies *frequencies
        cbool is_taken_away
    rag_status rag_frequencies_merge(const rag_frequency_part *parts, size_t part_count,
                                     const rag_lexical_stats *stats, const uint8_t *config,
                                     size_t config_size, rag_sink sink, rag_fault *fault) nogil
    rag_status rag_rank(int64_t *rows, float *scores, size_t count, size_t k, size_t *kept,
                        rag_fault *fault)

    # (wordpiece)
    struct rag_model:
        uint32_t dims, count, unknown
        const char *name

    rag_status rag_model_open(const void *file, size_t size, rag_model *model, rag_fault *fault)
    size_t rag_model_tokens(const rag_model *model, const void *text, size_t size, uint32_t *ids,
                            size_t capacity)
    void rag_model_embed( const rag_model *model, const uint8_t **texts, const size_t *sizes,
                         size_t count, int threads, float *out )

    void rag_context_add(
        float *texts, const float *paths, const int64_t *path_of, size_t rows, size_t dims, double weight, double *room
    ) nogil

    struct rag_model_source:
        uint32_t dims, count, bucket_bits, unknown
        const char *name
        size_t name_size
        const uint8_t **pieces
        const uint8_t *sizes
        const uint8_t *kinds
        const int8_t *rows
        const int16_t *coefficients

    rag_status rag_model_write(const rag_model_source *source, uint8_t *out, size_t *size,
                               rag_fault *fault)
