/* status.h - status codes and faults, which every other header uses.
 *
 * A function that can fail returns enum rag_status. It also fills a struct rag_fault if the caller
 * passes one; pass NULL if the reason does not matter. Results are returned through pointers.
 *
 * Naming: a `size` is a number of bytes, a `count` a number of items, `at` an offset. Bytes from a
 * file are untrusted until an open function has validated them; afterwards, scans of them cannot
 * fail. Functions are thread-safe unless their comment says "one thread". */
#ifndef RAGFILE_STATUS_H
#define RAGFILE_STATUS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum rag_status {
    RAG_OK = 0,
    RAG_NOT_RAGFILE, /* the first bytes are not those of a RAGFile */
    RAG_FORMAT,      /* a rule of the format is broken */
    RAG_VERSION,     /* written by a newer version, or needs an unknown feature */
    RAG_CORRUPT,     /* a checksum or a length does not match */
    RAG_LIMIT,       /* a limit of the format is exceeded */
    RAG_ARGUMENT,    /* the caller's value is out of its domain */
    RAG_LOCKED,      /* another writer holds the file */
    RAG_MEMORY,      /* no memory */
    RAG_OS,          /* a system call failed: os_error holds errno */
    RAG_SOURCE,      /* a source failed to fetch bytes: at is its own error number */
    RAG_KEY,         /* the file is encrypted, and no given key opens it */
    RAG_STATUS_COUNT
};

/* Why a call failed. `what` is a static string that names the broken rule; `section` may be
 * empty. */
struct rag_fault {
    enum rag_status status;
    int os_error;
    uint64_t at; /* file offset of the fault, or the invalid value for RAG_ARGUMENT */
    const char *what;
    char section[65];
    uint64_t has,
        wants; /* of a file that was cut off: its bytes, and the least that it needs; or 0 */
};

#endif
