/* gate.c - preloaded into a process: one call on the files of a folder stops, kills the process, or
 * fails, chosen by its number.
 *
 * gate_arm(folder, at, action, out, in): calls on files below `folder` are counted from 1, in all
 * threads. Before call number `at`:
 *   action -1   the thread writes the call's name and a line break to `out`, and waits for a byte
 *               from `in`
 *   action -2   the process kills itself with SIGKILL
 *   action > 0  the call and all later ones of its kind fail with this errno: for ENOSPC those
 *               that write, for EMFILE those that open
 * gate_count() says how many calls there were; gate_arm("", 0, 0, -1, -1) ends the count. */
#define _GNU_SOURCE
#include <dirent.h>
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

static char folder[4096];
static size_t folder_size;
static int at, action, out, in;
static atomic_int count, failing;

enum kind { OTHER, WRITES, OPENS };

void gate_arm(const char *below, int number, int what, int to, int from);
void gate_arm(const char *below, int number, int what, int to, int from) {
    snprintf(folder, sizeof folder, "%s", below);
    folder_size = strlen(folder);
    at = number, action = what, out = to, in = from;
    atomic_store(&count, 0), atomic_store(&failing, 0);
}

int gate_count(void);
int gate_count(void) { return atomic_load(&count); }

static int is_below(const char *path) {
    return folder_size && path && strncmp(path, folder, folder_size) == 0;
}

/* Whether a descriptor leads below the folder; unnamed temporary files have names there, too. */
static int leads_below(int fd) {
    char link[64], path[4096];
    if (!folder_size || fd < 0) return 0;
    snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
    const long size = syscall(SYS_readlink, link, path, sizeof path - 1);
    if (size <= 0) return 0;
    path[size] = 0;
    return is_below(path);
}

/* Count a call; stop, kill or return whether it is to fail. */
static int gated(const char *name, enum kind kind) {
    const int number = atomic_fetch_add(&count, 1) + 1, before = errno;
    if (number == at && action == -2) syscall(SYS_kill, getpid(), SIGKILL);
    if (number == at && action == -1) {
        char line[64], answer;
        const int size = snprintf(line, sizeof line, "%s\n", name);
        syscall(SYS_write, out, line, (size_t)size);
        while (syscall(SYS_read, in, &answer, (size_t)1) < 0 && errno == EINTR) {
        }
    }
    if (number >= at && at && action > 0) atomic_store(&failing, 1);
    errno = before;
    const enum kind wanted = action == ENOSPC ? WRITES : OPENS;
    if (!atomic_load(&failing) || kind != wanted) return 0;
    errno = action;
    return 1;
}

#define REAL(name) ((__typeof__(&name))dlsym(RTLD_NEXT, #name))
#define BY_PATH(result, name, kind, path, parameters, arguments)                 \
    result name parameters {                                                     \
        return is_below(path) && gated(#name, kind) ? -1 : REAL(name) arguments; \
    }
#define BY_FD(result, name, kind, parameters, arguments)                          \
    result name parameters {                                                      \
        return leads_below(fd) && gated(#name, kind) ? -1 : REAL(name) arguments; \
    }

int open(const char *path, int flags, ...);
int open(const char *path, int flags, ...) {
    va_list more;
    va_start(more, flags);
    const mode_t mode = flags & (O_CREAT | __O_TMPFILE) ? va_arg(more, mode_t) : 0;
    va_end(more);
    return is_below(path) && gated("open", OPENS) ? -1 : REAL(open)(path, flags, mode);
}
int open64(const char *path, int flags, ...);
int open64(const char *path, int flags, ...) {
    va_list more;
    va_start(more, flags);
    const mode_t mode = flags & (O_CREAT | __O_TMPFILE) ? va_arg(more, mode_t) : 0;
    va_end(more);
    return is_below(path) && gated("open", OPENS) ? -1 : REAL(open64)(path, flags, mode);
}

/* What `open` of two arguments becomes where the compiler checks it. */
int __open_2(const char *path, int flags);
int __open_2(const char *path, int flags) { return open(path, flags); }
int __open64_2(const char *path, int flags);
int __open64_2(const char *path, int flags) { return open64(path, flags); }

BY_FD(ssize_t, pwrite, WRITES, (int fd, const void *b, size_t n, off_t o), (fd, b, n, o))
BY_FD(ssize_t, pwrite64, WRITES, (int fd, const void *b, size_t n, off64_t o), (fd, b, n, o))
BY_FD(ssize_t, write, WRITES, (int fd, const void *b, size_t n), (fd, b, n))
BY_FD(ssize_t, pread, OTHER, (int fd, void *b, size_t n, off_t o), (fd, b, n, o))
BY_FD(ssize_t, pread64, OTHER, (int fd, void *b, size_t n, off64_t o), (fd, b, n, o))
BY_FD(ssize_t, read, OTHER, (int fd, void *b, size_t n), (fd, b, n))
BY_FD(int, fsync, OTHER, (int fd), (fd))
BY_FD(int, fdatasync, OTHER, (int fd), (fd))
BY_FD(int, ftruncate, OTHER, (int fd, off_t n), (fd, n))
BY_FD(int, ftruncate64, OTHER, (int fd, off64_t n), (fd, n))
BY_FD(int, fallocate, OTHER, (int fd, int m, off_t o, off_t n), (fd, m, o, n))
BY_FD(int, flock, OTHER, (int fd, int how), (fd, how))
BY_FD(int, fstat, OTHER, (int fd, struct stat *s), (fd, s))
BY_FD(int, fstat64, OTHER, (int fd, struct stat64 *s), (fd, s))
BY_FD(int, close, OTHER, (int fd), (fd))
BY_PATH(int, rename, WRITES, to, (const char *from, const char *to), (from, to))
BY_PATH(int, link, WRITES, to, (const char *from, const char *to), (from, to))
BY_PATH(int, unlink, OTHER, path, (const char *path), (path))
BY_PATH(int, rmdir, OTHER, path, (const char *path), (path))
BY_PATH(int, mkdir, WRITES, path, (const char *path, mode_t mode), (path, mode))
BY_PATH(int, stat, OTHER, path, (const char *path, struct stat *s), (path, s))
BY_PATH(int, stat64, OTHER, path, (const char *path, struct stat64 *s), (path, s))
BY_PATH(int, lstat, OTHER, path, (const char *path, struct stat *s), (path, s))
BY_PATH(int, lstat64, OTHER, path, (const char *path, struct stat64 *s), (path, s))

/* Record locks alone: other commands of fcntl touch no file. */
int fcntl(int fd, int command, ...);
int fcntl(int fd, int command, ...) {
    va_list more;
    va_start(more, command);
    void *argument = va_arg(more, void *);
    va_end(more);
    const int locks = command == F_SETLK || command == F_GETLK || command == F_SETLKW ||
                      command == F_OFD_SETLK || command == F_OFD_GETLK;
    if (locks && leads_below(fd) && gated("fcntl", OTHER)) return -1;
    return REAL(fcntl)(fd, command, argument);
}
int fcntl64(int fd, int command, ...);
int fcntl64(int fd, int command, ...) {
    va_list more;
    va_start(more, command);
    void *argument = va_arg(more, void *);
    va_end(more);
    return fcntl(fd, command, argument);
}

void *mmap(void *address, size_t size, int how, int flags, int fd, off_t o) {
    if (leads_below(fd) && gated("mmap", OTHER)) return MAP_FAILED;
    return REAL(mmap)(address, size, how, flags, fd, o);
}
void *mmap64(void *address, size_t size, int how, int flags, int fd, off64_t o) {
    if (leads_below(fd) && gated("mmap", OTHER)) return MAP_FAILED;
    return REAL(mmap64)(address, size, how, flags, fd, o);
}
DIR *opendir(const char *path) {
    return is_below(path) && gated("opendir", OPENS) ? NULL : REAL(opendir)(path);
}
