/* starve.c - fail every allocation and every system call of a writer and a reader once.
 *
 * Linked with --wrap for each function below. A scenario runs again and again; in run n the n-th
 * wrapped call fails. After each run the file must open as the previous commit or the new one,
 * verify without a fault, and be unlocked, with nothing left over: no descriptor, no partial file,
 * no memory (the leak checker verifies that). */
#define _GNU_SOURCE
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "ragfile.h"

#define MUST(condition)                                                                      \
    ((condition)                                                                             \
         ? (void)0                                                                           \
         : (fprintf(stderr, "%s:%d: %s (call %ld)\n", __FILE__, __LINE__, #condition, call), \
            abort()))

static long call = -1, left = -1; /* calls until one fails; negative: never */
static const char *failed;        /* the function that failed */

static bool fails(const char *name, int error) {
    if (left < 0 || left-- != 0) return false;
    failed = name;
    errno = error;
    return true;
}

#define WRAP(result, name, error, bad, parameters, arguments) \
    result __real_##name parameters;                          \
    result __wrap_##name parameters;                          \
    result __wrap_##name parameters { return fails(#name, error) ? bad : __real_##name arguments; }

WRAP(void *, malloc, ENOMEM, NULL, (size_t size), (size))
WRAP(void *, calloc, ENOMEM, NULL, (size_t count, size_t size), (count, size))
WRAP(void *, realloc, ENOMEM, NULL, (void *old, size_t size), (old, size))
WRAP(char *, strdup, ENOMEM, NULL, (const char *text), (text))
WRAP(char *, strndup, ENOMEM, NULL, (const char *text, size_t size), (text, size))
WRAP(int, fstat, EIO, -1, (int fd, struct stat *st), (fd, st))
WRAP(int, stat, EIO, -1, (const char *path, struct stat *st), (path, st))
WRAP(int, flock, ENOLCK, -1, (int fd, int how), (fd, how))
WRAP(int, unlink, EIO, -1, (const char *path), (path))
WRAP(int, fchown, EPERM, -1, (int fd, uid_t owner, gid_t group), (fd, owner, group))
WRAP(int, fchmod, EPERM, -1, (int fd, mode_t mode), (fd, mode))
WRAP(int, fsync, EIO, -1, (int fd), (fd))
WRAP(int, rename, EIO, -1, (const char *from, const char *to), (from, to))
WRAP(void *, mmap, ENOMEM, MAP_FAILED,
     (void *at, size_t size, int how, int flags, int fd, off_t from),
     (at, size, how, flags, fd, from))

int __real_open(const char *path, int flags, ...);
int __wrap_open(const char *path, int flags, ...);
int __wrap_open(const char *path, int flags, ...) {
    va_list list;
    va_start(list, flags);
    mode_t mode = flags & O_CREAT ? va_arg(list, mode_t) : 0;
    va_end(list);
    return fails("open", EMFILE) ? -1 : __real_open(path, flags, mode);
}

/* Transfer half of the request, then nothing more: a full disk. */
static bool disk_full;
ssize_t __real_pwrite(int fd, const void *bytes, size_t size, off_t at);
ssize_t __wrap_pwrite(int fd, const void *bytes, size_t size, off_t at);
ssize_t __wrap_pwrite(int fd, const void *bytes, size_t size, off_t at) {
    if (disk_full || (fails("pwrite", ENOSPC) && (disk_full = true, size < 2))) {
        errno = ENOSPC;
        return -1;
    }
    if (disk_full && failed) return __real_pwrite(fd, bytes, size / 2, at);
    return __real_pwrite(fd, bytes, size, at);
}

/* -------------------------------------------------------------------------------------------------
 * scenarios ---
 */

static char path[4096], partial[4096], folder[4000];
static uint8_t big[1200000];

static enum rag_status put(struct rag_writer *w, const char *name, uint32_t segment, size_t size,
                           uint64_t items) {
    uint64_t at;
    struct rag_fault fault;
    enum rag_status status = rag_section_begin(w, name, segment, 0, &at, &fault);
    if (status == RAG_OK) status = rag_section_write(w, big, size, &fault);
    return status == RAG_OK ? rag_section_end(w, items, &fault) : status;
}

/* Write three sections, one larger than the writer's buffer, and commit. A careless caller commits
 * even after a failed call, and commit has to refuse. */
static enum rag_status fill(struct rag_writer *w, bool careless) {
    struct rag_fault fault;
    uint32_t segment = 0;
    enum rag_status status = rag_writer_segment(w, &segment, &fault), last;
    if (status == RAG_OK) status = rag_writer_rows(w, segment, 10, 10, &fault);
    if (status == RAG_OK) status = put(w, "rag.docs", segment, sizeof big, 10);
    if (status == RAG_OK) status = put(w, "rag.ids", segment, 70, 10);
    for (char name[] = "rag.a"; status == RAG_OK && name[4] < 'z'; name[4]++)
        status = put(w, name, segment, 8, 0);
    if (status != RAG_OK && !careless) return status;
    disk_full = disk_full && !careless;
    last = rag_writer_commit(w, 0, "message", 7, &fault);
    if (status != RAG_OK) MUST(last != RAG_OK);
    return last;
}

static enum rag_status run_create(bool careless) {
    struct rag_writer *w = NULL;
    struct rag_fault fault;
    enum rag_status status = rag_writer_create(path, &w, &fault);
    if (status != RAG_OK) return status;
    status = fill(w, careless);
    rag_writer_discard(w);
    return status;
}

static enum rag_status run_edit(bool careless) {
    struct rag_writer *w = NULL;
    struct rag_fault fault;
    enum rag_status status = rag_writer_edit(path, NULL, NULL, &w, &fault);
    if (status != RAG_OK) return status;
    status = fill(w, careless);
    rag_writer_discard(w);
    return status;
}

static enum rag_status run_replace(bool careless) {
    struct rag_writer *editor = NULL, *w = NULL;
    struct rag_fault fault;
    enum rag_status status = rag_writer_edit(path, NULL, NULL, &editor, &fault);
    if (status != RAG_OK) return status;
    status = rag_writer_replace(editor, &w, &fault);
    if (status == RAG_OK) {
        status = fill(w, careless);
        rag_writer_discard(w);
    }
    rag_writer_discard(editor);
    return status;
}

static void report(void *context, const struct rag_fault *fault) {
    if (!strstr(fault->what, "belong to none")) ++*(size_t *)context;
}

/* Open, read and verify; the number of entries identifies the state. */
static enum rag_status run_read(uint32_t *entries) {
    struct rag_map map;
    struct rag_reader *reader = NULL;
    struct rag_fault fault;
    struct rag_verdict verdict;
    struct rag_commit commit;
    size_t faults = 0;
    enum rag_status status = rag_map_open(path, &map, &fault);
    if (status != RAG_OK) return status;
    status = rag_reader_open(map.bytes, map.size, 0, &reader, &fault);
    if (status == RAG_OK) {
        rag_reader_commit(reader, &commit);
        *entries = commit.entries;
        rag_reader_verify(reader, true, report, &faults, &verdict);
        MUST(faults == 0 || failed);
        MUST(commit.lost_generation == 0);
        rag_reader_close(reader);
    }
    rag_map_close(&map);
    return status;
}

/* -------------------------------------------------------------------------------------------------
 * runs ---
 */

static int things_in(const char *where) {
    int count = 0;
    DIR *listing = opendir(where);
    MUST(listing);
    while (readdir(listing)) count++;
    closedir(listing);
    return count;
}

static void restore(const void *bytes, size_t size) {
    FILE *file = fopen(path, "wb");
    MUST(file && fwrite(bytes, 1, size, file) == size && fclose(file) == 0);
}

static long starve(const char *name, enum rag_status (*scenario)(bool), bool careless,
                   const void *bytes, size_t size, uint32_t before, uint32_t after) {
    for (call = 0;; call++) {
        uint32_t entries = 0;
        if (size) restore(bytes, size);
        else unlink(path);
        const int descriptors = things_in("/proc/self/fd");
        left = call, failed = NULL, disk_full = false;
        enum rag_status status = scenario(careless);
        left = -1, disk_full = false;
        MUST(things_in("/proc/self/fd") == descriptors);
        const char *culprit = failed;
        failed = NULL;
        const bool stays = culprit && strcmp(culprit, "unlink") == 0 && unlink(partial) == 0;
        MUST(things_in(folder) == 2 + (access(path, F_OK) == 0) || stays);
        if (access(path, F_OK) == 0)
            MUST(run_read(&entries) == RAG_OK && (entries == before || entries == after));
        else MUST(size == 0 && status != RAG_OK);
        if (status == RAG_OK) MUST(entries == after);
        else if (entries == after && before != after)
            MUST(strcmp(culprit, "fsync") == 0 || strcmp(culprit, "open") == 0 ||
                 strcmp(culprit, "strndup") == 0);
        if (entries) MUST(run_edit(false) == RAG_OK);
        if (!culprit) break;
    }
    printf("%s%s: %ld calls, each failed once\n", name, careless ? ", careless" : "", call);
    return call;
}

int main(int count, char **words) {
    uint32_t entries = 0;
    MUST(count == 2);
    snprintf(folder, sizeof folder, "%s", words[1]);
    snprintf(path, sizeof path, "%s/a.ragfile", folder);
    snprintf(partial, sizeof partial, "%s/.a.ragfile.partial", folder);
    MUST(rag_init(NULL) == RAG_OK);
    MUST(run_create(false) == RAG_OK && run_read(&entries) == RAG_OK);
    FILE *file = fopen(path, "rb");
    static uint8_t base[2000000];
    const size_t size = fread(base, 1, sizeof base, file);
    fclose(file);
    const uint32_t one = entries;
    starve("create", run_create, false, NULL, 0, 0, one);
    starve("replace", run_replace, false, base, size, one, one);
    starve("edit behind a dead writer", run_edit, false, base, size + 333, one, 2 * one);
    starve("edit", run_edit, true, base, size, one, 2 * one);
    starve("create", run_create, true, NULL, 0, 0, one);
    restore(base, size);
    for (call = 0;; call++) {
        left = call, failed = NULL;
        enum rag_status status = run_read(&entries);
        left = -1;
        if (!failed) break;
        MUST(status != RAG_OK || strcmp(failed, "fstat") == 0 || strstr(failed, "alloc"));
    }
    printf("read: %ld calls, each failed once\n", call);
    return 0;
}
