/* container.c - libFuzzer target: open, guards, verify and older generations on any bytes.
 *
 * The input is copied to end at a guard page, which catches an overread by one byte even past a
 * sanitizer's red zone. The target also asserts the reader's guarantees: after a successful open
 * every entry is inside the file, in order, and found by its name; a file that verifies without a
 * fault has no section that fails its checksums. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "ragfile.h"

#define MUST(condition)    \
    ((condition) ? (void)0 \
                 : (fprintf(stderr, "%s:%d: %s\n", __FILE__, __LINE__, #condition), abort()))

enum { PAGE = 4096 };

struct guarded {
    uint8_t *base, *bytes;
    size_t mapped;
};

static struct guarded guard_pages(const uint8_t *data, size_t size) {
    struct guarded g = {.mapped = (size + 2 * PAGE - 1) / PAGE * PAGE};
    g.base = mmap(NULL, g.mapped, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    MUST(g.base != MAP_FAILED);
    g.bytes = g.base + g.mapped - PAGE - size;
    if (size) memcpy(g.bytes, data, size);
    MUST(mprotect(g.base + g.mapped - PAGE, PAGE, PROT_NONE) == 0);
    return g;
}

static void ignore_fault(void *context, const struct rag_fault *fault) {
    size_t *count = context;
    MUST(fault->what && strlen(fault->section) <= 64);
    ++*count;
}

/* Return the number of sections with failed checksums. */
static size_t read_sections(struct rag_reader *reader, const struct rag_commit *commit,
                            size_t size) {
    uint64_t end = 4096;
    size_t bad = 0;
    for (uint32_t i = 0; i < commit->entries; i++) {
        struct rag_entry e;
        struct rag_guard guard;
        struct rag_fault fault;
        rag_reader_entry(reader, i, &e);
        MUST(strlen(e.name) >= 1 && strlen(e.name) <= 64);
        MUST(e.at >= end && e.extent <= size && e.at <= size - e.extent && e.size < e.extent);
        end = e.at + e.extent;
        if (rag_reader_find(reader, e.name, e.segment) != (int64_t)i)
            MUST(!"an entry that is not found");
        enum rag_status status = rag_reader_guard(reader, i, &guard, &fault);
        if (status == RAG_OK && e.size) status = rag_guard_check(&guard, e.size - 1, 1, &fault);
        if (status == RAG_OK) status = rag_guard_check(&guard, 0, e.size, &fault);
        bad += status != RAG_OK;
    }
    MUST(rag_reader_find(reader, "no.such.section", 0) < 0);
    return bad;
}

static void read_generation(const uint8_t *bytes, size_t size, uint64_t generation) {
    struct rag_reader *reader = NULL;
    struct rag_fault fault;
    struct rag_commit commit;
    struct rag_verdict verdict;
    size_t reported = 0;
    enum rag_status status = rag_reader_open(bytes, size, generation, &reader, &fault);
    MUST(status >= RAG_OK && status < RAG_STATUS_COUNT);
    if (status != RAG_OK) {
        MUST(fault.status == status && fault.what && strlen(fault.section) <= 64);
        return;
    }
    rag_reader_commit(reader, &commit);
    MUST(generation == 0 || commit.generation == generation);
    MUST(commit.end <= size && commit.start < commit.end && commit.message_size <= 4096);
    for (uint32_t i = 0; i < commit.segments; i++) {
        struct rag_segment_record s;
        rag_reader_segment(reader, i, &s);
        MUST(s.number > 0 && s.live <= s.rows);
    }
    const size_t bad = read_sections(reader, &commit, size);
    rag_reader_verify(reader, false, ignore_fault, &reported, &verdict);
    MUST(verdict.faults == reported && (bad == 0 || reported > 0));
    reported = 0;
    rag_reader_verify(reader, true, ignore_fault, &reported, &verdict);
    MUST(verdict.faults == reported && (bad == 0 || reported > 0));
    rag_reader_close(reader);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    struct guarded g = guard_pages(data, size);
    for (uint64_t generation = 0; generation < 4; generation++)
        read_generation(g.bytes, size, generation);
    MUST(munmap(g.base, g.mapped) == 0);
    return 0;
}
