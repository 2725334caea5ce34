/* starve_core.c - preloaded into a process: the n-th allocation or system call that the core itself
 * asks for fails, once.
 *
 * Who asks is told by the return address: starve_inside gives the bounds of the extension's code.
 * So nothing else in the process is disturbed, and thousands of failures fit into one process.
 * starve_next(n) makes the n-th call from now fail, starve_next(0) lets all through, starve_next(-1)
 * counts; starve_count says how many calls there were, starve_failed the name of the one that did. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

void *__libc_malloc(size_t size);
void *__libc_calloc(size_t count, size_t size);
void *__libc_realloc(void *old, size_t size);
void *__libc_memalign(size_t alignment, size_t size);

static uintptr_t low, high;
static atomic_long failing, asked;
static atomic_int counts;
static const char *_Atomic failed; /* the name of the call that did */

void starve_inside(uintptr_t from, uintptr_t to);
void starve_inside(uintptr_t from, uintptr_t to) { low = from, high = to; }

void starve_next(long n);
void starve_next(long n) {
    atomic_store(&counts, 0);
    atomic_store(&asked, 0);
    atomic_store(&failed, NULL);
    atomic_store(&failing, n);
    atomic_store(&counts, n != 0);
}

long starve_count(void);
long starve_count(void) { return atomic_load(&asked); }

const char *starve_failed(void);
const char *starve_failed(void) { return atomic_load(&failed); }

static int fails(const void *caller, const char *name, int error) {
    if (!atomic_load_explicit(&counts, memory_order_relaxed)) return 0;
    if ((uintptr_t)caller < low || (uintptr_t)caller >= high) return 0;
    if (atomic_fetch_add(&asked, 1) + 1 != atomic_load(&failing)) return 0;
    atomic_store(&failed, name);
    errno = error;
    return 1;
}

#define FAILS(error) fails(__builtin_return_address(0), __func__, error)
#define REAL(name) ((__typeof__(&name))dlsym(RTLD_NEXT, #name))

void *malloc(size_t size) { return FAILS(ENOMEM) ? NULL : __libc_malloc(size); }
void *calloc(size_t count, size_t size) {
    return FAILS(ENOMEM) ? NULL : __libc_calloc(count, size);
}
void *realloc(void *old, size_t size) { return FAILS(ENOMEM) ? NULL : __libc_realloc(old, size); }
void *aligned_alloc(size_t alignment, size_t size) {
    return FAILS(ENOMEM) ? NULL : __libc_memalign(alignment, size);
}
int posix_memalign(void **made, size_t alignment, size_t size) {
    *made = FAILS(ENOMEM) ? NULL : __libc_memalign(alignment, size);
    return *made ? 0 : ENOMEM;
}

#define CALL(result, name, error, bad, parameters, arguments) \
    result name parameters { return FAILS(error) ? bad : REAL(name) arguments; }

CALL(char *, strdup, ENOMEM, NULL, (const char *text), (text))
CALL(char *, strndup, ENOMEM, NULL, (const char *text, size_t size), (text, size))
CALL(int, fstat, EIO, -1, (int fd, struct stat *st), (fd, st))
CALL(int, stat, EIO, -1, (const char *path, struct stat *st), (path, st))
/* Letting go of a lock fails on no system, and would leave it to whoever maps the file. */
int flock(int fd, int how) { return !(how & LOCK_UN) && FAILS(ENOLCK) ? -1 : REAL(flock)(fd, how); }
CALL(int, unlink, EIO, -1, (const char *path), (path))
CALL(int, fchown, EIO, -1, (int fd, uid_t owner, gid_t group), (fd, owner, group))
CALL(int, fchmod, EPERM, -1, (int fd, mode_t mode), (fd, mode))
CALL(int, fsync, EIO, -1, (int fd), (fd))
CALL(int, ftruncate, EIO, -1, (int fd, off_t size), (fd, size))
CALL(int, fallocate, EIO, -1, (int fd, int how, off_t at, off_t size), (fd, how, at, size))
CALL(int, rename, EIO, -1, (const char *from, const char *to), (from, to))
CALL(ssize_t, pwrite, ENOSPC, -1, (int fd, const void *bytes, size_t size, off_t at),
     (fd, bytes, size, at))
CALL(void *, mmap, ENOMEM, MAP_FAILED,
     (void *at, size_t size, int how, int flags, int fd, off_t from),
     (at, size, how, flags, fd, from))
CALL(int, sched_getaffinity, ENOSYS, -1, (pid_t pid, size_t size, cpu_set_t *set), (pid, size, set))

int pthread_create(pthread_t *thread, const pthread_attr_t *how, void *(*work)(void *),
                   void *given) {
    return FAILS(EAGAIN) ? EAGAIN : REAL(pthread_create)(thread, how, work, given);
}

int open(const char *path, int flags, ...) {
    va_list list;
    va_start(list, flags);
    const mode_t mode = flags & O_CREAT ? va_arg(list, mode_t) : 0;
    va_end(list);
    return FAILS(EMFILE) ? -1 : REAL(open)(path, flags, mode);
}

int fcntl(int fd, int what, ...) {
    va_list list;
    va_start(list, what);
    void *given = va_arg(list, void *);
    va_end(list);
    return FAILS(ENOLCK) ? -1 : REAL(fcntl)(fd, what, given);
}

int asprintf(char **made, const char *format, ...) {
    va_list list;
    if (FAILS(ENOMEM)) return -1;
    va_start(list, format);
    const int done = vasprintf(made, format, list);
    va_end(list);
    return done;
}

int __asprintf_chk(char **made, int flag, const char *format, ...);
int __asprintf_chk(char **made, int flag, const char *format, ...) {
    va_list list;
    (void)flag;
    if (FAILS(ENOMEM)) return -1;
    va_start(list, format);
    const int done = vasprintf(made, format, list);
    va_end(list);
    return done;
}
