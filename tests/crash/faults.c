/* faults.c - preloaded into a process: one call on files fails, chosen by name and number, as disks
 * do.
 *
 * fault_next("pwrite", 3, ENOSPC): the third pwrite from now fails, and so does every later one (a
 * full disk stays full); fault_next("short", 3, EIO): the third pwrite writes half of what it was
 * given, then they fail. EINTR interrupts that one call. fault_hits() says how many calls failed since; fault_next("", 0, 0) lets
 * everything through. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/types.h>
#include <unistd.h>

static char what[16];
static int left, number, hits;

void fault_next(const char *name, int count, int error);
void fault_next(const char *name, int count, int error) {
    snprintf(what, sizeof what, "%s", name);
    left = count, number = error, hits = 0;
}

int fault_hits(void);
int fault_hits(void) { return hits; }

static int fails(const char *name) {
    if (strcmp(what, name) != 0 || --left > 0) return 0;
    hits++;
    errno = number;
    if (number == EINTR) what[0] = 0;
    return 1;
}

#define REAL(name) ((__typeof__(&name))dlsym(RTLD_NEXT, #name))

static ssize_t put(int fd, const void *bytes, size_t size, off_t at, __typeof__(&pwrite) real) {
    if (fails("pwrite")) return -1;
    if (fails("short"))
        return hits == 1 && size > 1 ? real(fd, bytes, size / 2, at) : (errno = number, -1);
    return real(fd, bytes, size, at);
}

ssize_t pwrite(int fd, const void *bytes, size_t size, off_t at) {
    return put(fd, bytes, size, at, REAL(pwrite));
}
ssize_t pwrite64(int fd, const void *bytes, size_t size, off64_t at) {
    return put(fd, bytes, size, at, REAL(pwrite));
}
ssize_t write(int fd, const void *bytes, size_t size) {
    return fd > 2 && fails("write") ? -1 : REAL(write)(fd, bytes, size);
}
int fsync(int fd) { return fails("fsync") ? -1 : REAL(fsync)(fd); }
int fdatasync(int fd) { return fails("fsync") ? -1 : REAL(fdatasync)(fd); }
int rename(const char *from, const char *to) {
    return fails("rename") ? -1 : REAL(rename)(from, to);
}
int ftruncate(int fd, off_t size) { return fails("ftruncate") ? -1 : REAL(ftruncate)(fd, size); }
int ftruncate64(int fd, off64_t size) {
    return fails("ftruncate") ? -1 : REAL(ftruncate64)(fd, size);
}
