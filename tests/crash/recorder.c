/* recorder.c - preloaded into a process: every change to the files of one folder, in order, with
 * its data.
 *
 * CRASH_FOLDER is watched, CRASH_LOG receives one line per operation, files named by inode:
 *   C inode name      created            W inode offset size\n<bytes>   written
 *   T inode size      truncated          S inode                        synced
 *   R old new         renamed            U name                         unlinked
 *   D                 folder synced      M text                         the script tells where it is */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static FILE *log_file;
static const char *folder;
static char folder_real[4096];

__attribute__((constructor)) static void start(void) {
    const char *path = getenv("CRASH_LOG");
    folder = getenv("CRASH_FOLDER");
    if (!path || !folder || !realpath(folder, folder_real)) return;
    log_file = fopen(path, "ae");
    unsetenv("LD_PRELOAD");
}

/* The name inside the folder, or NULL. */
static const char *watched(const char *path) {
    const size_t size = strlen(folder_real);
    if (!log_file || strncmp(path, folder_real, size) != 0 || path[size] != '/') return NULL;
    return path + size + 1;
}

/* The inode of a regular file with a name in the folder, 1 for the folder itself, or 0. */
static unsigned long of(int fd) {
    char link[64], path[4096];
    struct stat st;
    if (!log_file || fstat(fd, &st) != 0) return 0;
    snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
    ssize_t size = readlink(link, path, sizeof path - 1);
    if (size <= 0) return 0;
    path[size] = 0;
    if (strcmp(path, folder_real) == 0) return 1;
    return watched(path) && S_ISREG(st.st_mode) && st.st_nlink > 0 ? (unsigned long)st.st_ino : 0;
}

#define REAL(name) ((__typeof__(&name))dlsym(RTLD_NEXT, #name))

static int opened(const char *path, int flags, mode_t mode, int (*real)(const char *, int, ...)) {
    struct stat st;
    const char *name = watched(path);
    const int fresh = name && (flags & O_CREAT) && stat(path, &st) != 0;
    int fd = real(path, flags, mode);
    if (fresh && fd >= 0 && fstat(fd, &st) == 0)
        fprintf(log_file, "C %lu %s\n", (unsigned long)st.st_ino, name), fflush(log_file);
    return fd;
}

int open(const char *path, int flags, ...) {
    va_list list;
    va_start(list, flags);
    mode_t mode = flags & O_CREAT ? va_arg(list, mode_t) : 0;
    va_end(list);
    return opened(path, flags, mode, REAL(open));
}

int open64(const char *path, int flags, ...) {
    va_list list;
    va_start(list, flags);
    mode_t mode = flags & O_CREAT ? va_arg(list, mode_t) : 0;
    va_end(list);
    return opened(path, flags, mode, REAL(open64));
}

static ssize_t written(int fd, const void *bytes, ssize_t size, off_t at) {
    const unsigned long inode = size > 0 ? of(fd) : 0;
    if (inode) {
        fprintf(log_file, "W %lu %lld %zd\n", inode, (long long)at, size);
        fwrite(bytes, 1, (size_t)size, log_file);
        fflush(log_file);
    }
    return size;
}

ssize_t pwrite(int fd, const void *bytes, size_t size, off_t at) {
    return written(fd, bytes, REAL(pwrite)(fd, bytes, size, at), at);
}
ssize_t pwrite64(int fd, const void *bytes, size_t size, off64_t at) {
    return written(fd, bytes, REAL(pwrite64)(fd, bytes, size, at), at);
}

static int note(const char *what, int fd, long long value, int result) {
    const unsigned long inode = result == 0 ? of(fd) : 0;
    if (inode == 1) fprintf(log_file, "D\n");
    else if (inode && value >= 0) fprintf(log_file, "%s %lu %lld\n", what, inode, value);
    else if (inode) fprintf(log_file, "%s %lu\n", what, inode);
    if (inode) fflush(log_file);
    return result;
}

/* A hole is recorded as the zeros that are read there from then on. */
static int emptied(int fd, int mode, off_t at, off_t size, int result) {
    char *zeros = mode & FALLOC_FL_PUNCH_HOLE && result == 0 ? calloc(1, (size_t)size) : NULL;
    if (zeros) written(fd, zeros, size, at);
    free(zeros);
    return result;
}

int fallocate(int fd, int mode, off_t at, off_t size) {
    return emptied(fd, mode, at, size, REAL(fallocate)(fd, mode, at, size));
}
int fallocate64(int fd, int mode, off64_t at, off64_t size) {
    return emptied(fd, mode, at, size, REAL(fallocate64)(fd, mode, at, size));
}

int ftruncate(int fd, off_t size) { return note("T", fd, size, REAL(ftruncate)(fd, size)); }
int ftruncate64(int fd, off64_t size) { return note("T", fd, size, REAL(ftruncate64)(fd, size)); }
int fsync(int fd) { return note("S", fd, -1, REAL(fsync)(fd)); }
int fdatasync(int fd) { return note("S", fd, -1, REAL(fdatasync)(fd)); }

int rename(const char *from, const char *to) {
    const char *old = watched(from), *new = watched(to);
    int result = REAL(rename)(from, to);
    if (result == 0 && old && new) fprintf(log_file, "R %s %s\n", old, new), fflush(log_file);
    return result;
}

int unlink(const char *path) {
    const char *name = watched(path);
    int result = REAL(unlink)(path);
    if (result == 0 && name) fprintf(log_file, "U %s\n", name), fflush(log_file);
    return result;
}

void crash_mark(const char *text);
void crash_mark(const char *text) {
    if (log_file) fprintf(log_file, "M %s\n", text), fflush(log_file);
}
