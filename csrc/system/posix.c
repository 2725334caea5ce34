/* posix.c - the calls of the operating system: POSIX, with additions of Linux and macOS. system.h
 * and ragfile/files.h promise what its functions do; windows.c does it on Windows.
 *
 * A reader maps a file once, read-only. A writer holds two locks on its file. flock() provides
 * exclusion; it belongs to the open file, so two writers in one process exclude each other, too. A
 * POSIX record lock at a far offset shows what flock cannot: the holder's pid and, by its length,
 * where uncommitted bytes begin. A process loses record locks when it closes any descriptor of the
 * file, so every close in this file takes it again. If other code's close lost it, error messages
 * lack the pid, readers look at the complete file, and exclusion still works.
 *
 * A reader maps a file up to the start of a live writer's uncommitted bytes. It sees the file as
 * that writer found it, without searching gigabytes for a commit. The writer changes its lock
 * before it writes a footer, and the system removes it when the writer dies. A length at which
 * no footer could end is ignored. */
#ifndef _WIN32
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#if defined(__aarch64__) && defined(__linux__)
#include <sys/auxv.h>
#endif
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "ragfile/files.h"
#include "ragfile/machine.h"
#include "container/format.h"
#include "shared/fail.h"
#include "system/system.h"

/* The offset of the record lock, far after any file's end. Its length minus one is where
 * uncommitted bytes begin; length 1: unknown. */
#define PID_LOCK_AT ((off_t)1 << 61)

static enum rag_status os_fail(struct rag_fault *fault, const char *what) {
    int error = errno;
    rag_fail(fault, error == ENOMEM ? RAG_MEMORY : RAG_OS, 0, what);
    if (fault) fault->os_error = error;
    return error == ENOMEM ? RAG_MEMORY : RAG_OS;
}

/* ----------------------------------------------------------------------------------------- maps */

static void close_beside(int fd);

static uint64_t settled_end(int fd);

/* Maps a file's first `most` bytes, or all of it if it has fewer. */
static enum rag_status map_fd(int fd, uint64_t most, struct rag_map *map, struct rag_fault *fault) {
    struct stat st;
    memset(map, 0, sizeof *map);
    if (fstat(fd, &st) != 0) return os_fail(fault, "stat");
    if (!S_ISREG(st.st_mode)) {
        errno = S_ISDIR(st.st_mode) ? EISDIR : EINVAL;
        return os_fail(fault, "map");
    }
    const size_t size = (uint64_t)st.st_size < most ? (size_t)st.st_size : (size_t)most;
    if (size > 0) {
        void *bytes = mmap(NULL, size, PROT_READ, MAP_SHARED, fd, 0);
        if (bytes == MAP_FAILED) return os_fail(fault, "map");
        map->bytes = bytes;
    }
    map->size = size;
    map->device = (uint64_t)st.st_dev;
    map->inode = (uint64_t)st.st_ino;
    return RAG_OK;
}

enum rag_status rag_map_and_keep(const char *path, struct rag_map *map, rag_handle *file,
                                 struct rag_fault *fault) {
    memset(map, 0, sizeof *map);
    *file = RAG_NO_HANDLE;
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK); /* a pipe is refused, not waited for */
    if (fd < 0) return os_fail(fault, "open");
    const enum rag_status status = map_fd(fd, settled_end(fd), map, fault);
    if (status == RAG_OK) *file = fd;
    else close_beside(fd);
    return status;
}

bool rag_read_at(rag_handle file, uint64_t at, void *bytes, size_t size) {
    return file != RAG_NO_HANDLE && pread((int)file, bytes, size, (off_t)at) == (ssize_t)size;
}

void rag_map_let_go(rag_handle file) {
    if (file != RAG_NO_HANDLE) close_beside((int)file);
}

enum rag_status rag_map_open(const char *path, struct rag_map *map, struct rag_fault *fault) {
    rag_handle file;
    const enum rag_status status = rag_map_and_keep(path, map, &file, fault);
    rag_map_let_go(file);
    return status;
}

enum rag_status rag_map_descriptor(int fd, struct rag_map *map, struct rag_fault *fault) {
    return map_fd(fd, UINT64_MAX, map, fault);
}

enum rag_status rag_map_exchange(int fd, const struct rag_map *map, struct rag_fault *fault) {
    void *place = (void *)(uintptr_t)map->bytes;
    if (place && mmap(place, map->size, PROT_READ, MAP_SHARED | MAP_FIXED, fd, 0) == MAP_FAILED)
        return os_fail(fault, "map");
    return RAG_OK;
}

/* Private memory that starts with the file's pages, copied on write. */
static enum rag_status map_copy(int fd, uint64_t room, struct rag_map *map,
                                struct rag_fault *fault) {
    enum rag_status status = map_fd(fd, UINT64_MAX, map, fault);
    if (status != RAG_OK) return status;
    const size_t file = map->size, size = room > file ? (size_t)room : file;
    rag_map_close(map);
    const int how = MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, access = PROT_READ | PROT_WRITE;
    void *bytes = size ? mmap(NULL, size, access, how, -1, 0) : NULL;
    if (bytes == MAP_FAILED) return os_fail(fault, "map");
    *map = (struct rag_map){.bytes = bytes, .size = size};
    if (file && mmap(bytes, file, access, MAP_PRIVATE | MAP_FIXED, fd, 0) == MAP_FAILED) {
        status = os_fail(fault, "map");
        rag_map_close(map);
    }
    return status;
}

enum rag_status rag_map_copy(const char *path, uint64_t room, struct rag_map *map,
                             struct rag_fault *fault) {
    memset(map, 0, sizeof *map);
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    if (fd < 0) return os_fail(fault, "open");
    const enum rag_status status = map_copy(fd, room, map, fault);
    close_beside(fd);
    return status;
}

enum rag_status rag_map_memory(uint64_t size, struct rag_map *map, struct rag_fault *fault) {
    const int how = MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE;
    memset(map, 0, sizeof *map);
    void *bytes = size ? mmap(NULL, (size_t)size, PROT_READ | PROT_WRITE, how, -1, 0) : NULL;
    if (bytes == MAP_FAILED) return os_fail(fault, "map");
    *map = (struct rag_map){.bytes = bytes, .size = (size_t)size};
    return RAG_OK;
}

void rag_map_close(struct rag_map *map) {
    if (map->bytes) munmap((void *)(uintptr_t)map->bytes, map->size);
    memset(map, 0, sizeof *map);
}

enum rag_status rag_map_stat(const char *path, struct rag_map *map, struct rag_fault *fault) {
    struct stat st;
    if (stat(path, &st) != 0) return os_fail(fault, "stat");
    *map = (struct rag_map){NULL, (size_t)st.st_size, (uint64_t)st.st_dev, (uint64_t)st.st_ino};
    return RAG_OK;
}

/* ---------------------------------------------------------------------------------------- locks */

/* Locks held by this process: a POSIX lock never conflicts with its own process, so the kernel
 * does not report them. */
enum { HELD_MAX = 256 };
static struct held {
    uint64_t device, inode;
    pid_t pid; /* a forked child inherits the table, and the locks stay its parent's */
    uint64_t thread;
    int fd;
    uint64_t settled; /* where uncommitted bytes begin, 0 unknown */
} held[HELD_MAX];
static pthread_mutex_t held_guard = PTHREAD_MUTEX_INITIALIZER;

/* Sets the record lock to the length for `settled`, whatever it was before. */
static void take_pid_lock(int fd, uint64_t settled) {
    struct flock lock = {.l_type = F_WRLCK,
                         .l_whence = SEEK_SET,
                         .l_start = PID_LOCK_AT,
                         .l_len = (off_t)settled + 1};
    struct flock rest = {.l_type = F_UNLCK,
                         .l_whence = SEEK_SET,
                         .l_start = PID_LOCK_AT + (off_t)settled + 1,
                         .l_len = 0};
    (void)fcntl(fd, F_SETLK, &lock);
    (void)fcntl(fd, F_SETLK, &rest);
}

static void take_guard(void) { pthread_mutex_lock(&held_guard); }
static void let(void) { pthread_mutex_unlock(&held_guard); }

/* A fork waits until no thread holds the table: the child would not have the thread that
 * releases it. */
static void register_fork_handlers(void) { pthread_atfork(take_guard, let, let); }

static void hold(void) {
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    pthread_once(&once, register_fork_handlers);
    take_guard();
}

/* The number of this thread in this process, which no other thread ever has. */
static uint64_t thread_number(void) {
    static _Atomic uint64_t count;
    static _Thread_local uint64_t number;
    if (number == 0) number = ++count;
    return number;
}

static void held_add(const struct stat *st, int fd) {
    hold();
    for (int i = 0; i < HELD_MAX; i++)
        if (!held[i].pid) {
            held[i] = (struct held){
                (uint64_t)st->st_dev, (uint64_t)st->st_ino, getpid(), thread_number(), fd, 0};
            break;
        }
    take_pid_lock(fd, 0);
    let();
}

static void held_remove(int fd) {
    hold();
    for (int i = 0; i < HELD_MAX; i++)
        if (held[i].fd == fd && held[i].pid == getpid()) held[i] = (struct held){0};
    let();
}

/* The process is compared last: getpid is a system call, and free entries have inode 0. */
static bool is_held(const struct held *one, const struct stat *st) {
    return one->inode == (uint64_t)st->st_ino && one->device == (uint64_t)st->st_dev &&
           one->pid == getpid();
}

/* Closes a descriptor of a file that a writer of this process may hold. */
static void close_beside(int fd) {
    struct stat st;
    const bool known = fstat(fd, &st) == 0;
    close(fd);
    if (!known) return;
    hold();
    for (int i = 0; i < HELD_MAX; i++)
        if (is_held(&held[i], &st)) take_pid_lock(held[i].fd, held[i].settled);
    let();
}

/* The entry for a file that this process holds, or an empty one. */
static struct held held_of(int fd) {
    struct stat st;
    struct held found = {0};
    if (fstat(fd, &st) != 0) return found;
    hold();
    for (int i = 0; i < HELD_MAX && !found.pid; i++)
        if (is_held(&held[i], &st)) found = held[i];
    let();
    return found;
}

/* The lock of another process's writer; its type is F_UNLCK if there is none. Shared locks are
 * ignored, because any reader could take one. */
static struct flock lock_of_other(int fd) {
    struct flock lock = {
        .l_type = F_WRLCK, .l_whence = SEEK_SET, .l_start = PID_LOCK_AT, .l_len = 1};
    if (fcntl(fd, F_GETLK, &lock) != 0 || lock.l_type != F_WRLCK) lock.l_type = F_UNLCK;
    return lock;
}

static int64_t holder_of(int fd) {
    if (held_of(fd).pid) return getpid();
    const struct flock lock = lock_of_other(fd);
    return lock.l_type == F_UNLCK ? 0 : lock.l_pid;
}

/* The start of a live writer's uncommitted bytes; UINT64_MAX if there is none or it is invalid. */
static uint64_t settled_end(int fd) {
    uint64_t settled = held_of(fd).settled;
    if (settled == 0) {
        const struct flock lock = lock_of_other(fd);
        if (lock.l_type != F_UNLCK && lock.l_start == PID_LOCK_AT && lock.l_len > 1)
            settled = (uint64_t)lock.l_len - 1;
    }
    return settled >= FRONT_SIZE + FOOTER_SIZE && settled % FOOTER_SIZE == 0 ? settled : UINT64_MAX;
}

int64_t rag_writer_pid(const char *path) {
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    if (fd < 0) return 0;
    int64_t pid = holder_of(fd);
    close_beside(fd);
    return pid;
}

/* Opens path, or creates it with O_CREAT; *made is set if it was created. */
static int open_or_make(const char *path, int flags, bool *made) {
    int fd = -1;
    *made = false;
    if (flags & O_CREAT) fd = open(path, flags | O_EXCL | O_CLOEXEC, 0666);
    *made = fd >= 0;
    if (fd >= 0 || ((flags & O_CREAT) && errno != EEXIST)) return fd;
    return open(
        path, (flags & ~O_CREAT) | O_CLOEXEC | O_NONBLOCK); /* a pipe is refused, not waited for */
}

static enum rag_status fail_locked(int fd, const char *made, struct rag_fault *fault) {
    if (errno == EWOULDBLOCK)
        return rag_fail(fault, RAG_LOCKED, (uint64_t)holder_of(fd),
                        "another writer holds the file");
    const enum rag_status status = os_fail(fault, "lock");
    if (made) (void)unlink(made);
    return status;
}

static bool is_named(int fd, const char *path) {
    struct stat mine, named;
    /* unreached: a file system is mounted over the path meanwhile */
    return fstat(fd, &mine) == 0 && stat(path, &named) == 0 && mine.st_dev == named.st_dev &&
           mine.st_ino == named.st_ino;
}

static bool is_behind(int fd, const struct stat *st, uint64_t arrived);

static bool waits_for_others(int fd, uint64_t arrived) {
    struct stat st;
    const bool found = arrived && fstat(fd, &st) == 0 && is_behind(fd, &st, arrived);
    errno = EWOULDBLOCK;
    return found;
}

/* Locks the file that path names. If it was renamed away between open and lock, tries again:
 * only the holder of the lock on path's current file may write. With O_CREAT the file is new:
 * the file of a killed writer is removed with its mode, and so is a symbolic link. With a time of
 * arrival, writers that have waited longer go first. */
static enum rag_status open_locked(const char *path, int flags, uint64_t arrived, rag_handle *out,
                                   struct rag_fault *fault) {
    /* unreached: the file is replaced a hundred times between two calls */
    for (int attempt = 0; attempt < 100; attempt++) {
        struct stat st;
        bool made;
        int fd = open_or_make(path, flags, &made);
        if (fd < 0 && (flags & O_CREAT) && errno == ENOENT && attempt < 99)
            continue; /* it went, or its folder is not there */
        if (fd < 0) return os_fail(fault, "open");
        if (waits_for_others(fd, arrived) || flock(fd, LOCK_EX | LOCK_NB) != 0) {
            const enum rag_status status = fail_locked(fd, made ? path : NULL, fault);
            close_beside(fd);
            return status;
        }
        const bool good = is_named(fd, path) && fstat(fd, &st) == 0;
        if (good && (made || !(flags & O_CREAT))) {
            held_add(&st, fd);
            *out = fd;
            return RAG_OK;
        }
        if (good) (void)unlink(path);
        close_beside(fd);
    }
    return rag_fail(fault, RAG_LOCKED, 0, "the file is being replaced again and again");
}

enum rag_status rag_lock(const char *path, enum rag_lock_kind kind, rag_handle *out,
                         struct rag_fault *fault) {
    const int flags = kind == RAG_LOCK_NEW     ? O_RDWR | O_CREAT
                      : kind == RAG_LOCK_WRITE ? O_RDWR
                                               : O_RDONLY;
    return open_locked(path, flags, 0, out, fault);
}

/* -------------------------------------------------------------------------------------- waiting */

/* The system has no lock with a limit of time. A thread that blocks in flock can only be called
 * back by a signal, and a library does not own its process's signals; without one it would take the
 * lock long after its caller gave up. So a writer asks again, but in order: each has a place in a
 * queue, a record lock of one byte at the time of its arrival. The first in the queue asks often,
 * and a writer that comes back goes to the end. The queue only orders; flock excludes. So a place
 * that is lost, because other code closed a descriptor of the file, or a queue that a file system
 * does not know, costs the order alone. The first in the queue may be a stopped process, so the
 * others ask, too, now and then. */
#define QUEUE_AT ((off_t)1 << 60)
enum { PAUSE_LEAST = 200000, PAUSE_OTHERS = 1000000, PAUSE_MOST = 5000000 }; /* nanoseconds */
enum { ASK_ANYWAY = 50000000, CALL_BACK = 20000000, PAUSE_SHARE = 32, WAITING_MAX = 256 };

/* The queue of this process, because a record lock never conflicts with its own process. */
static struct place {
    pid_t pid; /* 0, or that of a parent: free */
    uint64_t device, inode, arrived;
} waiting[WAITING_MAX];

struct waiter {
    const char *path;
    int flags, fd;
    struct place *place; /* NULL if the table is full: then it waits without order in its process */
    struct stat st;
    uint64_t arrived, begun, asked, called;
};

/* The time of arrival, which no other thread of this process has. */
static uint64_t arrival(void) {
    static uint64_t last;
    hold();
    const uint64_t now = rag_nanoseconds() / 1000;
    last = now > last ? now : last + 1;
    const uint64_t found = last;
    let();
    return found;
}

static bool is_behind_thread(const struct stat *st, uint64_t arrived) {
    bool found = false;
    hold();
    for (int i = 0; i < WAITING_MAX && !found; i++)
        found = waiting[i].inode == (uint64_t)st->st_ino &&
                waiting[i].device == (uint64_t)st->st_dev && waiting[i].arrived < arrived &&
                waiting[i].pid == getpid();
    let();
    return found;
}

/* Whether a writer that came before `arrived` waits for the file. */
static bool is_behind(int fd, const struct stat *st, uint64_t arrived) {
    struct flock before = {
        .l_type = F_WRLCK, .l_whence = SEEK_SET, .l_start = QUEUE_AT, .l_len = (off_t)arrived};
    if (is_behind_thread(st, arrived)) return true;
    return fcntl(fd, F_GETLK, &before) == 0 && before.l_type == F_WRLCK;
}

static bool set_place(const struct waiter *me, short type) {
    struct flock place = {
        .l_type = type, .l_whence = SEEK_SET, .l_start = QUEUE_AT + (off_t)me->arrived, .l_len = 1};
    return fcntl(me->fd, F_SETLK, &place) == 0 || (errno != EAGAIN && errno != EACCES);
}

/* Takes the waiter's place, again and again: other closes of the file may have lost it. */
static void take_place(struct waiter *me) {
    while (!set_place(me, F_WRLCK)) me->arrived++; /* a process that came in the same moment */
    hold();
    for (int i = 0; i < WAITING_MAX && !me->place; i++)
        if (waiting[i].pid != getpid()) me->place = &waiting[i];
    if (me->place)
        *me->place =
            (struct place){getpid(), (uint64_t)me->st.st_dev, (uint64_t)me->st.st_ino, me->arrived};
    let();
}

static void leave_place(struct waiter *me) {
    if (me->fd >= 0) (void)set_place(me, F_UNLCK);
    hold();
    if (me->place) *me->place = (struct place){0};
    me->place = NULL;
    let();
}

/* Opens the file that has the name now. */
static enum rag_status follow_name(struct waiter *me, struct rag_fault *fault) {
    if (me->fd >= 0 && is_named(me->fd, me->path)) return RAG_OK;
    bool made;
    if (me->fd >= 0) close_beside(me->fd);
    me->fd = open_or_make(me->path, me->flags, &made);
    if (me->fd < 0) return os_fail(fault, "open");
    return fstat(me->fd, &me->st) == 0 ? RAG_OK : os_fail(fault, "stat");
}

/* Asks for the lock if it is this waiter's turn. */
static enum rag_status ask(struct waiter *me, bool *taken, struct rag_fault *fault) {
    const uint64_t now = rag_nanoseconds();
    const bool first = !is_behind(me->fd, &me->st, me->arrived);
    *taken = false;
    if (!first && now - me->asked < ASK_ANYWAY) return RAG_OK;
    me->asked = now;
    *taken = flock(me->fd, LOCK_EX | LOCK_NB) == 0;
    return *taken || errno == EWOULDBLOCK ? RAG_OK : os_fail(fault, "lock");
}

static void sleep_for(double nanoseconds) {
    const struct timespec time = {0, (long)nanoseconds};
    (void)nanosleep(&time, NULL); /* a signal ends it early, and the caller looks at the clock */
}

/* Sleeps for a share of the time so far, which keeps long waits cheap; false once it is over. */
static bool pause_between(struct waiter *me, const struct rag_wait *wait) {
    const uint64_t now = rag_nanoseconds(), since = now - me->begun;
    const uint64_t least = me->asked + PAUSE_OTHERS > now ? PAUSE_LEAST : PAUSE_OTHERS;
    const double left = wait->seconds * 1e9 - (double)since;
    uint64_t pause = since / PAUSE_SHARE;
    if (!(left > 0)) return false;
    if (wait->goes_on && now - me->called >= CALL_BACK) {
        me->called = now;
        if (!wait->goes_on(wait->context)) return false;
    }
    pause = pause < least ? least : pause > PAUSE_MOST ? PAUSE_MOST : pause;
    sleep_for(left < (double)pause ? left : (double)pause);
    return true;
}

static enum rag_status wait_in_line(struct waiter *me, const struct rag_wait *wait,
                                    struct rag_fault *fault) {
    for (;;) {
        bool taken = false;
        enum rag_status status = follow_name(me, fault);
        if (status != RAG_OK) return status;
        take_place(me);
        status = ask(me, &taken, fault);
        if (status != RAG_OK || (taken && is_named(me->fd, me->path))) return status;
        if (!taken && !pause_between(me, wait))
            return rag_fail(fault, RAG_LOCKED, (uint64_t)holder_of(me->fd),
                            "another writer holds the file");
    }
}

/* Whether this thread holds the file, so that waiting for it would never end. */
static bool holds(const char *path) {
    struct stat st;
    bool found = false;
    if (stat(path, &st) != 0) return false;
    hold();
    for (int i = 0; i < HELD_MAX && !found; i++)
        found = is_held(&held[i], &st) && held[i].thread == thread_number();
    let();
    return found;
}

enum rag_status rag_lock_within(const char *path, enum rag_lock_kind kind,
                                const struct rag_wait *wait, rag_handle *out,
                                struct rag_fault *fault) {
    if (kind != RAG_LOCK_WRITE || !wait || !(wait->seconds > 0))
        return rag_lock(path, kind, out, fault);
    struct waiter me = {.path = path, .flags = O_RDWR, .fd = -1, .arrived = arrival()};
    me.begun = me.asked = me.called = rag_nanoseconds();
    enum rag_status status = open_locked(path, me.flags, me.arrived, out, fault);
    if (status != RAG_LOCKED) return status;
    if (holds(path))
        return rag_fail(fault, RAG_LOCKED, (uint64_t)getpid(),
                        "this thread is writing to the file already: end that edit first");
    status = wait_in_line(&me, wait, fault);
    leave_place(&me);
    if (status == RAG_OK) held_add(&me.st, me.fd);
    else if (me.fd >= 0) close_beside(me.fd);
    *out = me.fd;
    return status;
}

/* Unlocks explicitly: closing alone would leave the lock to children that were forked meanwhile.
 * The record lock is removed first, or the next writer might commit while it still hides the new
 * bytes from readers. */
void rag_unlock(rag_handle file, bool own) {
    struct flock all = {
        .l_type = F_UNLCK, .l_whence = SEEK_SET, .l_start = PID_LOCK_AT, .l_len = 0};
    const int fd = (int)file;
    if (own) held_remove(fd);
    if (own) (void)fcntl(fd, F_SETLK, &all);
    if (own) (void)flock(fd, LOCK_UN);
    close(fd);
}

void rag_lock_announce(rag_handle file, uint64_t settled) {
    const int fd = (int)file;
    hold();
    for (int i = 0; i < HELD_MAX; i++)
        if (held[i].fd == fd && held[i].pid == getpid()) held[i].settled = settled;
    take_pid_lock(fd, settled);
    let();
}

/* ------------------------------------------------------------------------------- files to write */

enum rag_status rag_handle_map(rag_handle file, struct rag_map *map, struct rag_fault *fault) {
    return map_fd((int)file, UINT64_MAX, map, fault);
}

enum rag_status rag_check_named(rag_handle file, const char *path, struct rag_fault *fault) {
    struct stat mine, named;
    if (fstat((int)file, &mine) != 0 || stat(path, &named) != 0) return os_fail(fault, "stat");
    /* unreached: a file system is mounted over the path meanwhile */
    if (mine.st_dev == named.st_dev && mine.st_ino == named.st_ino) return RAG_OK;
    return rag_fail(fault, RAG_ARGUMENT, 0, "the file was replaced while this writer held it");
}

enum rag_status rag_write_at(rag_handle file, uint64_t at, const void *bytes, size_t size,
                             struct rag_fault *fault) {
    const uint8_t *from = bytes;
    while (size > 0) {
        ssize_t done =
            pwrite((int)file, from, size < ((size_t)1 << 30) ? size : (size_t)1 << 30, (off_t)at);
        if (done < 0 && errno == EINTR) continue;
        /* unreached: a system that writes nothing and reports no error */
        if (done == 0) errno = ENOSPC;
        if (done <= 0) return os_fail(fault, "write");
        from += done, at += (uint64_t)done, size -= (size_t)done;
    }
    return RAG_OK;
}

void rag_free_room(rag_handle file, uint64_t from) {
#ifdef FALLOC_FL_PUNCH_HOLE
    const int how = FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE;
    struct stat st;
    if (fstat((int)file, &st) != 0 || (uint64_t)st.st_size <= from) return;
    (void)fallocate((int)file, how, (off_t)from, st.st_size - (off_t)from); /* only room is lost */
#else
    (void)file, (void)from;
#endif
}

enum rag_status rag_set_size(rag_handle file, uint64_t size, struct rag_fault *fault) {
    return ftruncate((int)file, (off_t)size) == 0 ? RAG_OK : os_fail(fault, "truncate");
}

enum rag_status rag_sync(rag_handle file, struct rag_fault *fault) {
#ifdef F_FULLFSYNC
    if (fcntl((int)file, F_FULLFSYNC) == 0) return RAG_OK;
#endif
    return fsync((int)file) == 0 ? RAG_OK : os_fail(fault, "sync");
}

size_t rag_folder_length(const char *path) {
    const char *slash = strrchr(path, '/');
    return slash ? (size_t)(slash - path) + 1 : 0;
}

enum rag_status rag_sync_name(const char *path, struct rag_fault *fault) {
    const size_t length = rag_folder_length(path);
    char *folder = length ? strndup(path, length) : strdup(".");
    if (!folder) return rag_fail(fault, RAG_MEMORY, 0, "no memory");
    int fd = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    free(folder);
    if (fd < 0) return os_fail(fault, "open folder");
    /* unreached: file systems that do not sync folders */
    enum rag_status status = fsync(fd) == 0 || errno == EINVAL || errno == EROFS
                                 ? RAG_OK
                                 : os_fail(fault, "sync folder");
    close(fd);
    return status;
}

enum rag_status rag_replace(const char *from, const char *to, struct rag_fault *fault) {
    return rename(from, to) == 0 ? RAG_OK : os_fail(fault, "rename");
}

void rag_remove(const char *path) { (void)unlink(path); }

enum rag_status rag_can_replace(const char *path, bool *exists, struct rag_fault *fault) {
    struct stat st;
    *exists = stat(path, &st) == 0;
    if (!*exists) return errno == ENOENT ? RAG_OK : os_fail(fault, "stat");
    if (S_ISREG(st.st_mode)) return RAG_OK; /* a device would be gone */
    errno = S_ISDIR(st.st_mode) ? EISDIR : EINVAL;
    return os_fail(fault, "create");
}

/* A process without the privilege to change the owner keeps it; if the group cannot be kept, the
 * group gets no rights. */
static bool take_after(int fd, const struct stat *old) {
    struct stat now;
    if (fchown(fd, old->st_uid, old->st_gid) != 0 && fchown(fd, (uid_t)-1, old->st_gid) != 0 &&
        errno != EPERM)
        return false;
    if (fstat(fd, &now) != 0) return false;
    const mode_t mode = old->st_mode & 07777;
    return fchmod(fd, now.st_gid == old->st_gid ? mode : mode & ~(mode_t)(S_IRWXG | S_ISGID)) == 0;
}

enum rag_status rag_copy_rights(rag_handle file, const char *path, struct rag_fault *fault) {
    struct stat old;
    if (stat(path, &old) != 0) return errno == ENOENT ? RAG_OK : os_fail(fault, "stat");
    return take_after((int)file, &old) ? RAG_OK : os_fail(fault, "change mode");
}

/* -------------------------------------------------------------------------------- memory, clock */

void *rag_aligned(size_t size) {
    void *block = NULL;
    return posix_memalign(&block, 64, size) == 0 ? block : NULL;
}

void rag_aligned_free(void *block) { free(block); }

uint64_t rag_nanoseconds(void) {
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (uint64_t)time.tv_sec * 1000000000u + (uint64_t)time.tv_nsec;
}

/* ------------------------------------------------------------------------ processes and threads */

int64_t rag_process(void) { return getpid(); }

int rag_cpu_count(void) {
#ifdef __linux__
    cpu_set_t set;
    if (sched_getaffinity(0, sizeof set, &set) == 0) return CPU_COUNT(&set);
#endif
    long count = sysconf(_SC_NPROCESSORS_ONLN);
    /* unreached: a system that hides its number of CPUs */
    return count > 0 ? (int)count : 1;
}

#if defined(__aarch64__) && defined(__linux__)
bool rag_has_dotprod(void) { return getauxval(AT_HWCAP) >> 20 & 1; } /* HWCAP_ASIMDDP */
#else
bool rag_has_dotprod(void) { return true; } /* of every Apple machine */
#endif

void rag_mutex_open(rag_mutex *mutex) { pthread_mutex_init(mutex, NULL); }
void rag_mutex_lock(rag_mutex *mutex) { pthread_mutex_lock(mutex); }
void rag_mutex_unlock(rag_mutex *mutex) { pthread_mutex_unlock(mutex); }

void rag_event_open(rag_event *event) { pthread_cond_init(event, NULL); }
void rag_event_wait(rag_event *event, rag_mutex *mutex) { pthread_cond_wait(event, mutex); }
void rag_event_wake_one(rag_event *event) { pthread_cond_signal(event); }
void rag_event_wake_all(rag_event *event) { pthread_cond_broadcast(event); }

bool rag_thread_start(rag_thread *thread, void *(*work)(void *given), void *given) {
    if (pthread_create(thread, NULL, work, given) != 0) return false;
    pthread_detach(*thread);
    return true;
}

rag_thread rag_this_thread(void) { return pthread_self(); }

void rag_after_fork(void (*in_child)(void)) { (void)pthread_atfork(NULL, NULL, in_child); }

#ifdef __linux__
_Static_assert(sizeof(rag_cpus) == sizeof(cpu_set_t), "a set of CPUs is the system's");

int rag_this_cpu(void) { return sched_getcpu(); }

rag_cpus rag_allowed_cpus(void) {
    rag_cpus allowed;
    if (sched_getaffinity(0, sizeof allowed, (cpu_set_t *)(void *)&allowed) != 0)
        memset(&allowed, 0, sizeof allowed);
    return allowed;
}

/* Errors do not matter: the kernel then places the thread as usual. */
void rag_thread_place(rag_thread thread, const rag_cpus *allowed) {
    const cpu_set_t *set = (const cpu_set_t *)(const void *)allowed;
    if (CPU_COUNT(set) > 0) pthread_setaffinity_np(thread, sizeof *set, set);
}
#else
int rag_this_cpu(void) { return 0; }
rag_cpus rag_allowed_cpus(void) { return (rag_cpus){0}; }
void rag_thread_place(rag_thread thread, const rag_cpus *allowed) { (void)thread, (void)allowed; }
#endif
#endif /* not _WIN32 */
