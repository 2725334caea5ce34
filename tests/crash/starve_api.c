/* starve_api.c - preloaded into a process: the n-th allocation of the extension from now fails, as
 * when memory runs out.
 *
 * starve_next(n) makes that one fail; starve_next(0) lets everything through, as -1 does, and then
 * starve_count() says how many were asked for since. An allocation is the extension's if its code, or the core's, asks
 * for it, by itself or through Python's C interface; what Python code asks for is CPython's affair.
 * A list that grows is left out: where that fails, Cython 3.3's comprehensions free an item twice. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <execinfo.h>
#include <stdatomic.h>
#include <stddef.h>
#include <string.h>

#define DEEPEST 24

void *__libc_malloc(size_t size);
void *__libc_calloc(size_t count, size_t size);
void *__libc_realloc(void *old, size_t size);
void *__libc_memalign(size_t alignment, size_t size);

static atomic_long failing, asked;
static atomic_int counts;
static __thread int is_looking; /* a backtrace allocates, too */

void starve_next(long n);
void starve_next(long n) {
    void *first[1];
    atomic_store(&counts, 0);
    backtrace(first, 1); /* loads what it needs */
    atomic_store(&asked, 0);
    atomic_store(&failing, n);
    atomic_store(&counts, n != 0);
}

long starve_count(void);
long starve_count(void) { return atomic_load(&asked); }

static int is_of_extension(void) {
    void *frames[DEEPEST];
    const int count = backtrace(frames, DEEPEST);
    for (int i = 0; i < count; i++) {
        Dl_info found;
        if (!dladdr(frames[i], &found)) continue;
        if (found.dli_fname && strstr(found.dli_fname, "ragfile/_core")) return 1;
        if (found.dli_sname && strcmp(found.dli_sname, "PyList_Append") == 0) return 0;
        if (found.dli_sname && strstr(found.dli_sname, "_PyEval_EvalFrame")) return 0;
    }
    return 0;
}

static int fails(void) {
    if (is_looking || !atomic_load(&counts)) return 0;
    is_looking = 1;
    const int is_ours = is_of_extension();
    is_looking = 0;
    if (!is_ours || atomic_fetch_add(&asked, 1) + 1 != atomic_load(&failing)) return 0;
    atomic_store(&counts, 0);
    errno = ENOMEM;
    return 1;
}

void *malloc(size_t size) { return fails() ? NULL : __libc_malloc(size); }
void *calloc(size_t count, size_t size) { return fails() ? NULL : __libc_calloc(count, size); }
void *realloc(void *old, size_t size) { return fails() ? NULL : __libc_realloc(old, size); }
void *memalign(size_t alignment, size_t size) {
    return fails() ? NULL : __libc_memalign(alignment, size);
}
void *aligned_alloc(size_t alignment, size_t size) { return memalign(alignment, size); }
int posix_memalign(void **made, size_t alignment, size_t size) {
    *made = memalign(alignment, size);
    return *made ? 0 : ENOMEM;
}
