/* format.h - offsets, sizes and limits of the 1.0 container. spec/parts/container.md explains them.
 *
 *   0        front page, 4096 bytes
 *              0    "RAGFILE"  7 major  8 minor  9 patch  10 byte order (0)
 *              11   directory: rag.head-(…,…) 00 vector-(…,…) 00 … 00  (20 digits, inclusive ends)
 *              …    zero
 *              3968 superblock (SUPER_*), byte 4095 is zero
 *   4096     section extents, each 64-aligned:
 *              size bytes | zero to 8 | one xxh3-64 per 64 KiB block | zero to 64, 1 byte at least
 *   …        table of contents (TOC_*, ENTRY_*, SEGMENT_*), zero to 64, at least one byte
 *   …        footer (FOOTER_*), 64 bytes: the commit exists once this is durable
 *   …        next commit: extents, table of contents, footer; … to the end of the file
 *
 * All numbers are little-endian. Offsets are from the start of the file. */
#ifndef RAG_FORMAT_H
#define RAG_FORMAT_H

enum {
    VERSION_AT = 7, /* three bytes, after the magic */
    HEADER_SIZE = 11,
    FRONT_SIZE = 4096,
    SECTION_ALIGN = 64,

    SUPER_AT = 3968,
    SUPER_SIZE = 128,
    SUPER_READ_FEATURES =
        8, /* u64: a reader that does not know one of these bits refuses the file */
    SUPER_WRITE_FEATURES =
        16, /* u64: a writer that does not know one of these bits leaves the file alone */
    SUPER_TOC_AT = 24,
    SUPER_TOC_SIZE = 32,
    SUPER_TOC_HASH = 40, /* the file's identity: every footer repeats it */
    SUPER_FOOTER_AT = 48,
    SUPER_CREATED = 56, /* ns since 1970, 0 = not recorded */
    SUPER_HASH = 112,   /* xxh3-64 of the front page up to here */

    TOC_HEAD_SIZE = 64,
    TOC_GENERATION = 8,
    TOC_CREATED = 16,
    TOC_ENTRIES = 24,  /* u32 */
    TOC_SEGMENTS = 28, /* u32 */
    TOC_NAMES = 32,    /* u32: bytes of the names */
    TOC_MESSAGE = 36,  /* u32: bytes of the message */
    TOC_START = 40,    /* where this commit's extents begin */
    TOC_NEXT_SEGMENT = 48,
    TOC_ABANDONED =
        56, /* hash of the block hashes of the bytes between the footer before and start, or 0 */

    ENTRY_SIZE = 64,
    ENTRY_FLAGS = 0,       /* u32 */
    ENTRY_SEGMENT = 4,     /* u32, 0 = the whole file */
    ENTRY_NAME = 8,        /* u32: offset among the names */
    ENTRY_ZERO = 12,       /* u32 */
    ENTRY_GENERATION = 16, /* the commit that wrote it */
    ENTRY_AT = 24,
    ENTRY_BYTES = 32,
    ENTRY_ITEMS = 40, /* each section defines its items */
    ENTRY_HASH = 48,  /* xxh3-64 of its block hashes */
    ENTRY_ZERO_2 = 56,

    SEGMENT_SIZE = 32,
    SEGMENT_NUMBER = 0, /* u32, from 1 */
    SEGMENT_ZERO = 4,   /* u32 */
    SEGMENT_ROWS = 8,
    SEGMENT_LIVE = 16,
    SEGMENT_GENERATION = 24,

    FOOTER_SIZE = 64,
    FOOTER_GENERATION = 8,
    FOOTER_TOC_AT = 16,
    FOOTER_TOC_SIZE = 24,
    FOOTER_TOC_HASH = 32,
    FOOTER_PREVIOUS = 40, /* 0 for generation 1 */
    FOOTER_IDENTITY = 48,
    FOOTER_HASH = 56,

    CHUNK_DOCUMENT = 0, /* u32: number of its document */
    CHUNK_INDEX = 4,    /* u32 */
    CHUNK_START = 8,    /* u32: first byte in the document's blob */
    CHUNK_BYTES = 12,   /* u32 */
    CHUNK_CHAR = 16,    /* u32: first code point in the document's text, or RAG_NO_SPAN */
    CHUNK_CHARS = 20,   /* u32 */
    CHUNK_META = 24,    /* u64: offset of its JSON << META_SIZE_BITS | bytes of it */
    META_SIZE_BITS = 24,

    DOCUMENT_BLOB = 0,        /* u64: offset of its texts in rag.text */
    DOCUMENT_TEXT_BYTES = 8,  /* u32 */
    DOCUMENT_BLOB_BYTES = 12, /* u32 */
    DOCUMENT_META = 16,       /* u64: offset of its JSON in rag.meta */
    DOCUMENT_META_BYTES = 24, /* u32 */
    DOCUMENT_FLAGS = 28,      /* u32: DOCUMENT_HAS_TEXT */
    DOCUMENT_ROW = 32,        /* u64: its first row */
    DOCUMENT_ROWS = 40,       /* u32 */
    DOCUMENT_CHARS = 44,      /* u32: code points of its text */
    DOCUMENT_ZERO = 48,
    DOCUMENT_HAS_TEXT = 1,

    STRINGS_COUNT = 0,   /* u64 */
    STRINGS_OFFSETS = 8, /* u64 each: count + 1 of them, then the bytes */

    STREAM_RAW_SIZE = 8,    /* of the trailer */
    STREAM_BLOCK_SIZE = 16, /* raw size of a block; the last can be shorter */
    STREAM_BLOCKS = 24,
    STREAM_TABLE_AT = 32,
    STREAM_ZERO = 40,
    STREAM_ALIGN = 8, /* of the table, which follows the blocks */

    SAMPLE_HEAD_SIZE = 64,
    SAMPLE_COUNT = 8, /* u64 */
    SAMPLE_DIM = 16,  /* u32 */
    SAMPLE_BITS = 20, /* u32 */
    SAMPLE_ZERO = 24,
    SAMPLE_MAX = 65536, /* entries */

    FINE_HEAD_SIZE = 64,
    FINE_GRAIN = 8,  /* u32: bytes of a grain */
    FINE_COUNT = 12, /* u32: sections */
    FINE_ZERO = 16,
    FINE_ENTRY = 32, /* u64 at, u64 size, u64 number of its first sum, u64 zero */
    FINE_LEAST = 512,
    FINE_MOST = 32768,

    LIST_HEAD_SIZE = 16,
    LIST_COUNT = 8,    /* u32 */
    LIST_NAMES = 12,   /* u32: bytes of the names */
    LISTED_SIZE = 32,  /* of an entry */
    LISTED_BYTES = 0,  /* u64 */
    LISTED_ITEMS = 8,  /* u64 */
    LISTED_HASH = 16,  /* xxh3-64 of its block hashes */
    LISTED_FLAGS = 24, /* u32 */
    LISTED_ZERO = 28,  /* u32 */
    LIST_MAX_SIZE = 65536,

    NAME_MAX_SIZE = 64,
    MESSAGE_MAX_SIZE = 4096,
    ENTRIES_MAX = 65536,
    SEGMENTS_MAX = 65536,
};

#define SUPER_MAGIC "RAGHEAD1"
#define TOC_MAGIC "RAGTOC01"
#define FOOTER_MAGIC "RAGCOMIT"
#define HEAD_NAME "rag.head"
#define TOC_NAME "rag.toc"
#define TOMBS_NAME "rag.tombs"
#define DELETED_NAME "rag.deleted"
#define BARE_NAME "rag.bare"
#define STREAM_MAGIC "RAGBLK01"
#define SAMPLE_MAGIC "RAGSAMP1"
#define FINE_MAGIC "RAGFINE1"
#define FINE_NAME "rag.fine"
#define LIST_MAGIC "RAGSECT1"
#define LIST_NAME "rag.sections"
#define STREAM_COMPRESSED ((uint64_t)1 << 63) /* in a block's end: the block is one zstd frame */

#define TOC_SIZE_MAX ((uint64_t)64 << 20)
#define FILE_SIZE_MAX ((uint64_t)1 << 60)
#define ROWS_MAX ((uint64_t)1 << 40)

#define ENTRY_MUST_READ 1u
#define ENTRY_MUST_WRITE 2u

#endif
