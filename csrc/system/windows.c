/* windows.c - the calls of the operating system: Windows 10 and newer. system.h and ragfile/files.h
 * promise what its functions do; posix.c does it elsewhere.
 *
 * Paths are UTF-8. Every handle shares reading, writing and deleting, so that a file with readers
 * can be renamed. A writer holds a lock of one byte far after the file's end. Locks belong to
 * handles, so two writers of one process exclude each other, too, and the system removes them when
 * a process ends. The holder of a lock cannot be found. So a writer also has a named piece of
 * memory, which ends with it: its process, and where uncommitted bytes begin. Readers in another
 * session do not see that, and look at the complete file.
 *
 * A file that is mapped cannot be replaced or removed, only renamed. So the old file steps aside
 * first, to a name that ends with ".aside", and the new one takes its place. If the writer dies
 * between the two renames, the name is missing: the next open of the name restores it. Once the
 * new file is in place, the old one gets a name that ends with ".old" and a number, until a later
 * writer finds that no reader maps it any more, and removes it. */
#ifdef _WIN32
#define WIN32_LEAN_AND_MEAN
#define NOMINMAX
#ifndef _WIN32_WINNT
#define _WIN32_WINNT 0x0A00
#endif
#include <windows.h>
#undef near
#undef far
#undef small

#include <errno.h>
#include <io.h>
#include <malloc.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <wchar.h>

#include "ragfile/files.h"
#include "ragfile/machine.h"
#include "container/format.h"
#include "shared/fail.h"
#include "system/system.h"

/* Offsets of locks, far after any file's end: the writer's, and the places of writers that wait. */
#define LOCK_AT ((uint64_t)1 << 61)
#define QUEUE_AT ((uint64_t)1 << 60)

static int errno_of(DWORD error) {
    switch (error) {
        case ERROR_FILE_NOT_FOUND:
        case ERROR_PATH_NOT_FOUND:
        case ERROR_INVALID_NAME:
        case ERROR_BAD_PATHNAME:
        case ERROR_INVALID_DRIVE:
        case ERROR_BAD_NETPATH:
            return ENOENT;
        case ERROR_FILE_EXISTS:
        case ERROR_ALREADY_EXISTS:
            return EEXIST;
        case ERROR_DISK_FULL:
        case ERROR_HANDLE_DISK_FULL:
            return ENOSPC;
        case ERROR_NOT_ENOUGH_MEMORY:
        case ERROR_OUTOFMEMORY:
        case ERROR_COMMITMENT_LIMIT:
            return ENOMEM;
        case ERROR_TOO_MANY_OPEN_FILES:
            return EMFILE;
        case ERROR_INVALID_HANDLE:
            return EBADF;
        case ERROR_INVALID_PARAMETER:
        case ERROR_INVALID_FUNCTION:
            return EINVAL;
        case ERROR_DIRECTORY:
            return EISDIR;
        case ERROR_FILENAME_EXCED_RANGE:
            return ENAMETOOLONG;
        case ERROR_ACCESS_DENIED:
        case ERROR_SHARING_VIOLATION:
        case ERROR_USER_MAPPED_FILE:
        case ERROR_LOCK_VIOLATION:
        case ERROR_WRITE_PROTECT:
            return EACCES;
        default:
            return EIO;
    }
}

static enum rag_status os_fail(struct rag_fault *fault, const char *what) {
    const int error = errno_of(GetLastError());
    const enum rag_status status = error == ENOMEM ? RAG_MEMORY : RAG_OS;
    rag_fail(fault, status, 0, what);
    if (fault) fault->os_error = error;
    return status;
}

/* ---------------------------------------------------------------------------------------- paths */

static bool is_separator(wchar_t c) { return c == L'/' || c == L'\\'; }

/* A path in the system's letters, to be freed, or NULL with the last error set. Long paths get the
 * prefix that lifts the limit of 260 letters. */
static wchar_t *wide_of(const char *path) {
    enum { PREFIX = 8, ORDINARY = 240 };
    const int count = MultiByteToWideChar(CP_UTF8, MB_ERR_INVALID_CHARS, path, -1, NULL, 0);
    wchar_t *name = count > 0 ? malloc((size_t)count * sizeof *name) : NULL;
    if (!name) {
        SetLastError(count > 0 ? ERROR_NOT_ENOUGH_MEMORY : ERROR_INVALID_NAME);
        return NULL;
    }
    MultiByteToWideChar(CP_UTF8, MB_ERR_INVALID_CHARS, path, -1, name, count);
    if (count < ORDINARY || wcsncmp(name, L"\\\\?\\", 4) == 0) return name;
    const DWORD room = GetFullPathNameW(name, 0, NULL, NULL);
    wchar_t *full = room ? malloc((room + PREFIX) * sizeof *full) : NULL;
    if (full && GetFullPathNameW(name, room, full + PREFIX, NULL)) {
        const bool is_share = is_separator(full[PREFIX]) && is_separator(full[PREFIX + 1]);
        const wchar_t *prefix = is_share ? L"\\\\?\\UNC" : L"\\\\?\\";
        wchar_t *rest = full + PREFIX + (is_share ? 1 : 0);
        memmove(full + wcslen(prefix), rest, (wcslen(rest) + 1) * sizeof *rest);
        memcpy(full, prefix, wcslen(prefix) * sizeof *prefix);
    }
    free(name);
    if (!full) SetLastError(ERROR_NOT_ENOUGH_MEMORY);
    return full;
}

size_t rag_folder_length(const char *path) {
    size_t length = 0;
    for (size_t i = 0; path[i]; i++)
        if (path[i] == '/' || path[i] == '\\' || (i == 1 && path[i] == ':')) length = i + 1;
    return length;
}

static HANDLE open_wide(const wchar_t *path, DWORD access, DWORD how) {
    const DWORD shared = FILE_SHARE_READ | FILE_SHARE_WRITE | FILE_SHARE_DELETE;
    HANDLE file = CreateFileW(path, access, shared, NULL, how, FILE_ATTRIBUTE_NORMAL, NULL);
    if (file == INVALID_HANDLE_VALUE && GetLastError() == ERROR_ACCESS_DENIED) {
        const DWORD found = GetFileAttributesW(path);
        const bool folder = found != INVALID_FILE_ATTRIBUTES && (found & FILE_ATTRIBUTE_DIRECTORY);
        SetLastError(folder ? ERROR_DIRECTORY : ERROR_ACCESS_DENIED);
    }
    if (file == INVALID_HANDLE_VALUE || GetFileType(file) == FILE_TYPE_DISK) return file;
    CloseHandle(file); /* a pipe or a device */
    SetLastError(ERROR_INVALID_PARAMETER);
    return INVALID_HANDLE_VALUE;
}

/* ---------------------------------------------------------------------------- files set aside */

#define ASIDE L".aside"
#define OLD L".old"

/* The path of a file beside another: a dot, the other's name, an ending. NULL without memory. */
static wchar_t *beside(const wchar_t *path, const wchar_t *ending) {
    size_t folder = 0;
    for (size_t i = 0; path[i]; i++)
        if (is_separator(path[i]) || (i == 1 && path[i] == L':')) folder = i + 1;
    const size_t name = wcslen(path + folder), last = wcslen(ending) + 1;
    wchar_t *made = malloc((folder + 1 + name + last) * sizeof *made);
    if (!made) return NULL;
    wmemcpy(made, path, folder);
    made[folder] = L'.';
    wmemcpy(made + folder + 1, path + folder, name);
    wmemcpy(made + folder + 1 + name, ending, last);
    return made;
}

static bool exists(const wchar_t *path) {
    return GetFileAttributesW(path) != INVALID_FILE_ATTRIBUTES;
}

/* Gives a name that is missing back to the file that stepped aside, if there is one. A writer that
 * is between its two renames gets a moment to end. */
static bool give_back(const wchar_t *path) {
    enum { TRIES = 40, PAUSE = 5 }; /* milliseconds */
    wchar_t *aside = beside(path, ASIDE);
    bool done = false;
    for (int i = 0; aside && i < TRIES && !done && exists(aside); i++) {
        Sleep(PAUSE);
        done = exists(path);
    }
    if (aside && !done) done = MoveFileExW(aside, path, MOVEFILE_WRITE_THROUGH) || exists(path);
    free(aside);
    return done;
}

/* Removes the files that other ones replaced and that no reader maps any more; returns an ending
 * that no file has. */
static void remove_old(const wchar_t *path, wchar_t ending[32]) {
    WIN32_FIND_DATAW found;
    unsigned long long most = 0;
    wchar_t *pattern = beside(path, OLD L"*");
    HANDLE search = pattern ? FindFirstFileW(pattern, &found) : INVALID_HANDLE_VALUE;
    if (search != INVALID_HANDLE_VALUE) {
        do {
            const wchar_t *number = found.cFileName + wcslen(found.cFileName);
            while (number > found.cFileName && number[-1] >= L'0' && number[-1] <= L'9') number--;
            const unsigned long long one = wcstoull(number, NULL, 10);
            swprintf(ending, 32, OLD L"%llu", one);
            wchar_t *old = beside(path, ending);
            if (old && one > 0 && !DeleteFileW(old) && one > most) most = one;
            free(old);
        } while (FindNextFileW(search, &found));
        FindClose(search);
    }
    free(pattern);
    swprintf(ending, 32, OLD L"%llu", most + 1);
}

static bool is_missing(HANDLE file) {
    return file == INVALID_HANDLE_VALUE && GetLastError() == ERROR_FILE_NOT_FOUND;
}

/* Opens a file that exists. */
static HANDLE open_file(const char *path, DWORD access) {
    wchar_t *wide = wide_of(path);
    HANDLE file = wide ? open_wide(wide, access, OPEN_EXISTING) : INVALID_HANDLE_VALUE;
    if (wide && is_missing(file)) {
        if (give_back(wide)) file = open_wide(wide, access, OPEN_EXISTING);
        else SetLastError(ERROR_FILE_NOT_FOUND);
    }
    const DWORD error = GetLastError();
    free(wide);
    SetLastError(error);
    return file;
}

/* -------------------------------------------------------------------------------------- writers */

struct identity {
    uint64_t device, inode, size;
};

static bool identify(HANDLE file, struct identity *out) {
    BY_HANDLE_FILE_INFORMATION info;
    if (!GetFileInformationByHandle(file, &info)) return false;
    *out = (struct identity){info.dwVolumeSerialNumber,
                             (uint64_t)info.nFileIndexHigh << 32 | info.nFileIndexLow,
                             (uint64_t)info.nFileSizeHigh << 32 | info.nFileSizeLow};
    return true;
}

static bool is_same(const struct identity *a, const struct identity *b) {
    return a->device == b->device && a->inode == b->inode;
}

/* The state of a writer for other processes. */
struct shown {
    _Atomic uint64_t process, settled; /* settled: where uncommitted bytes begin, 0 unknown */
};

static void name_of_shown(const struct identity *file, wchar_t name[64]) {
    swprintf(name, 64, L"Local\\ragfile-writer-%llx-%llx", (unsigned long long)file->device,
             (unsigned long long)file->inode);
}

enum { HELD_MAX = 256 };
static struct held {
    HANDLE file, memory;
    struct shown *shown; /* NULL if the system had no memory for it */
    struct identity identity;
    DWORD thread;
} held[HELD_MAX];
static rag_mutex held_guard = RAG_MUTEX;

static void show(struct held *one) {
    wchar_t name[64];
    name_of_shown(&one->identity, name);
    one->memory = CreateFileMappingW(INVALID_HANDLE_VALUE, NULL, PAGE_READWRITE, 0,
                                     sizeof(struct shown), name);
    if (!one->memory) return;
    one->shown = MapViewOfFile(one->memory, FILE_MAP_WRITE, 0, 0, sizeof(struct shown));
    if (!one->shown) return;
    atomic_store(&one->shown->settled, 0);
    atomic_store(&one->shown->process, GetCurrentProcessId());
}

static void held_add(HANDLE file) {
    struct held one = {.file = file, .thread = GetCurrentThreadId()};
    if (!identify(file, &one.identity)) return;
    show(&one);
    rag_mutex_lock(&held_guard);
    for (int i = 0; i < HELD_MAX; i++)
        if (!held[i].file) {
            held[i] = one;
            one.file = NULL;
            break;
        }
    rag_mutex_unlock(&held_guard);
}

static void held_remove(HANDLE file) {
    struct held one = {0};
    rag_mutex_lock(&held_guard);
    for (int i = 0; i < HELD_MAX; i++)
        if (held[i].file == file) {
            one = held[i];
            held[i] = (struct held){0};
        }
    rag_mutex_unlock(&held_guard);
    if (one.shown) atomic_store(&one.shown->process, 0);
    if (one.shown) UnmapViewOfFile(one.shown);
    if (one.memory) CloseHandle(one.memory);
}

/* The process that writes a file, 0 if unknown, and where its uncommitted bytes begin. */
static int64_t writer_of(HANDLE file, uint64_t *settled) {
    struct identity identity;
    wchar_t name[64];
    *settled = 0;
    if (!identify(file, &identity)) return 0;
    name_of_shown(&identity, name);
    HANDLE memory = OpenFileMappingW(FILE_MAP_READ, FALSE, name);
    if (!memory) return 0;
    const struct shown *shown = MapViewOfFile(memory, FILE_MAP_READ, 0, 0, sizeof *shown);
    const int64_t process = shown ? (int64_t)atomic_load(&((struct shown *)shown)->process) : 0;
    if (process) *settled = atomic_load(&((struct shown *)shown)->settled);
    if (shown) UnmapViewOfFile(shown);
    CloseHandle(memory);
    return process;
}

static uint64_t settled_end(HANDLE file) {
    uint64_t settled;
    (void)writer_of(file, &settled);
    return settled >= FRONT_SIZE + FOOTER_SIZE && settled % FOOTER_SIZE == 0 ? settled : UINT64_MAX;
}

int64_t rag_writer_pid(const char *path) {
    uint64_t settled;
    HANDLE file = open_file(path, GENERIC_READ);
    if (file == INVALID_HANDLE_VALUE) return 0;
    const int64_t process = writer_of(file, &settled);
    CloseHandle(file);
    return process;
}

/* ----------------------------------------------------------------------------------------- maps */

static enum rag_status map_file(HANDLE file, uint64_t most, struct rag_map *map,
                                struct rag_fault *fault) {
    struct identity found;
    memset(map, 0, sizeof *map);
    if (!identify(file, &found)) return os_fail(fault, "stat");
    const size_t size = (size_t)(found.size < most ? found.size : most);
    if (size > 0) {
        HANDLE section = CreateFileMappingW(file, NULL, PAGE_READONLY, 0, 0, NULL);
        if (!section) return os_fail(fault, "map");
        map->bytes = MapViewOfFile(section, FILE_MAP_READ, 0, 0, size);
        const DWORD error = GetLastError();
        CloseHandle(section);
        SetLastError(error);
        if (!map->bytes) return os_fail(fault, "map");
    }
    map->size = size;
    map->device = found.device;
    map->inode = found.inode;
    return RAG_OK;
}

enum rag_status rag_map_open(const char *path, struct rag_map *map, struct rag_fault *fault) {
    memset(map, 0, sizeof *map);
    HANDLE file = open_file(path, GENERIC_READ);
    if (file == INVALID_HANDLE_VALUE) return os_fail(fault, "open");
    const enum rag_status status = map_file(file, settled_end(file), map, fault);
    CloseHandle(file);
    return status;
}

/* Nothing is kept, and so nothing is read: whoever asks reads the map. */
enum rag_status rag_map_and_keep(const char *path, struct rag_map *map, rag_handle *file,
                                 struct rag_fault *fault) {
    *file = RAG_NO_HANDLE;
    return rag_map_open(path, map, fault);
}

bool rag_read_at(rag_handle file, uint64_t at, void *bytes, size_t size) {
    (void)file, (void)at, (void)bytes, (void)size;
    return false;
}

void rag_map_let_go(rag_handle file) { (void)file; }

static HANDLE handle_of(int fd) {
    const intptr_t handle = fd < 0 ? -1 : _get_osfhandle(fd);
    if (handle == -1) SetLastError(ERROR_INVALID_HANDLE);
    return (HANDLE)handle;
}

enum rag_status rag_map_descriptor(int fd, struct rag_map *map, struct rag_fault *fault) {
    HANDLE file = handle_of(fd);
    memset(map, 0, sizeof *map);
    return file == INVALID_HANDLE_VALUE ? os_fail(fault, "map")
                                        : map_file(file, UINT64_MAX, map, fault);
}

/* For a moment no pages are there. A program's other threads may not use the map meanwhile. */
enum rag_status rag_map_exchange(int fd, const struct rag_map *map, struct rag_fault *fault) {
    void *place = (void *)(uintptr_t)map->bytes;
    HANDLE file = handle_of(fd);
    if (!place) return RAG_OK;
    if (file == INVALID_HANDLE_VALUE) return os_fail(fault, "map");
    HANDLE section = CreateFileMappingW(file, NULL, PAGE_READONLY, 0, 0, NULL);
    if (!section) return os_fail(fault, "map");
    UnmapViewOfFile(place);
    const bool done = MapViewOfFileEx(section, FILE_MAP_READ, 0, 0, map->size, place) == place;
    const enum rag_status status = done ? RAG_OK : os_fail(fault, "map");
    CloseHandle(section);
    return status;
}

enum rag_status rag_map_copy(const char *path, uint64_t room, struct rag_map *map,
                             struct rag_fault *fault) {
    memset(map, 0, sizeof *map);
    struct rag_map file;
    HANDLE handle = open_file(path, GENERIC_READ);
    if (handle == INVALID_HANDLE_VALUE) return os_fail(fault, "open");
    const enum rag_status status = map_file(handle, UINT64_MAX, &file, fault);
    CloseHandle(handle);
    if (status != RAG_OK) return status;
    const size_t size = room > file.size ? (size_t)room : file.size;
    void *bytes = size ? VirtualAlloc(NULL, size, MEM_RESERVE | MEM_COMMIT, PAGE_READWRITE) : NULL;
    if (bytes && file.size) memcpy(bytes, file.bytes, file.size);
    rag_map_close(&file);
    if (size && !bytes) return os_fail(fault, "map");
    *map = (struct rag_map){.bytes = bytes, .size = size};
    return RAG_OK;
}

/* The system promises the room at once, and gives pages on first use. */
enum rag_status rag_map_memory(uint64_t size, struct rag_map *map, struct rag_fault *fault) {
    memset(map, 0, sizeof *map);
    void *bytes =
        size ? VirtualAlloc(NULL, (size_t)size, MEM_RESERVE | MEM_COMMIT, PAGE_READWRITE) : NULL;
    if (size && !bytes) return os_fail(fault, "map");
    *map = (struct rag_map){.bytes = bytes, .size = (size_t)size};
    return RAG_OK;
}

void rag_map_close(struct rag_map *map) {
    MEMORY_BASIC_INFORMATION info;
    void *bytes = (void *)(uintptr_t)map->bytes;
    if (bytes && VirtualQuery(bytes, &info, sizeof info) && info.Type == MEM_PRIVATE)
        VirtualFree(bytes, 0, MEM_RELEASE);
    else if (bytes) UnmapViewOfFile(bytes);
    memset(map, 0, sizeof *map);
}

enum rag_status rag_map_stat(const char *path, struct rag_map *map, struct rag_fault *fault) {
    struct identity found;
    HANDLE file = open_file(path, FILE_READ_ATTRIBUTES);
    if (file == INVALID_HANDLE_VALUE) return os_fail(fault, "stat");
    const bool good = identify(file, &found);
    const DWORD error = GetLastError();
    CloseHandle(file);
    SetLastError(error);
    if (!good) return os_fail(fault, "stat");
    *map = (struct rag_map){NULL, (size_t)found.size, found.device, found.inode};
    return RAG_OK;
}

/* ---------------------------------------------------------------------------------------- locks */

static bool lock_range(HANDLE file, uint64_t at, uint64_t size) {
    OVERLAPPED place = {.Offset = (DWORD)at, .OffsetHigh = (DWORD)(at >> 32)};
    const DWORD how = LOCKFILE_EXCLUSIVE_LOCK | LOCKFILE_FAIL_IMMEDIATELY;
    return LockFileEx(file, how, 0, (DWORD)size, (DWORD)(size >> 32), &place);
}

static void unlock_range(HANDLE file, uint64_t at, uint64_t size) {
    OVERLAPPED place = {.Offset = (DWORD)at, .OffsetHigh = (DWORD)(at >> 32)};
    (void)UnlockFileEx(file, 0, (DWORD)size, (DWORD)(size >> 32), &place);
}

static enum rag_status fail_locked(HANDLE file, struct rag_fault *fault) {
    uint64_t settled;
    const DWORD error = GetLastError();
    if (error != ERROR_LOCK_VIOLATION && error != ERROR_IO_PENDING) return os_fail(fault, "lock");
    return rag_fail(fault, RAG_LOCKED, (uint64_t)writer_of(file, &settled),
                    "another writer holds the file");
}

static bool is_named(HANDLE file, const char *path) {
    struct identity mine, named;
    HANDLE other = open_file(path, FILE_READ_ATTRIBUTES);
    const bool found = other != INVALID_HANDLE_VALUE && identify(other, &named);
    if (other != INVALID_HANDLE_VALUE) CloseHandle(other);
    return found && identify(file, &mine) && is_same(&mine, &named);
}

/* Whether a writer that came before `arrived` waits: whether its place is locked. */
static bool is_behind(HANDLE file, uint64_t arrived) {
    if (!lock_range(file, QUEUE_AT, arrived)) return true;
    unlock_range(file, QUEUE_AT, arrived);
    return false;
}

static HANDLE open_kind(const char *path, enum rag_lock_kind kind, bool *made) {
    *made = false;
    if (kind == RAG_LOCK_NEW) {
        wchar_t *wide = wide_of(path);
        const DWORD access = GENERIC_READ | GENERIC_WRITE | DELETE | WRITE_DAC;
        HANDLE file = wide ? open_wide(wide, access, CREATE_NEW) : INVALID_HANDLE_VALUE;
        const DWORD error = GetLastError();
        free(wide);
        SetLastError(error);
        *made = file != INVALID_HANDLE_VALUE;
        if (*made || error != ERROR_FILE_EXISTS) return file;
    }
    const DWORD write = kind == RAG_LOCK_ONLY ? 0 : GENERIC_WRITE;
    return open_file(path, GENERIC_READ | write | (kind == RAG_LOCK_NEW ? DELETE : 0));
}

/* As posix.c: only the holder of the lock of the file that has the name may write. */
static enum rag_status open_locked(const char *path, enum rag_lock_kind kind, uint64_t arrived,
                                   rag_handle *out, struct rag_fault *fault) {
    for (int attempt = 0; attempt < 100; attempt++) {
        bool made;
        HANDLE file = open_kind(path, kind, &made);
        if (file == INVALID_HANDLE_VALUE && kind == RAG_LOCK_NEW && attempt < 99 &&
            GetLastError() == ERROR_FILE_NOT_FOUND)
            continue; /* it went meanwhile */
        if (file == INVALID_HANDLE_VALUE) return os_fail(fault, "open");
        if ((arrived && is_behind(file, arrived)) || !lock_range(file, LOCK_AT, 1)) {
            SetLastError(ERROR_LOCK_VIOLATION);
            const enum rag_status status = fail_locked(file, fault);
            CloseHandle(file);
            return status;
        }
        const bool good = is_named(file, path);
        if (good && (made || kind != RAG_LOCK_NEW)) {
            held_add(file);
            *out = (rag_handle)file;
            return RAG_OK;
        }
        if (good) rag_remove(path); /* the leftover of a dead writer */
        CloseHandle(file);
    }
    return rag_fail(fault, RAG_LOCKED, 0, "the file is being replaced again and again");
}

enum rag_status rag_lock(const char *path, enum rag_lock_kind kind, rag_handle *out,
                         struct rag_fault *fault) {
    return open_locked(path, kind, 0, out, fault);
}

/* As in posix.c: each writer that waits has a place, a lock of one byte at the time of its arrival.
 * The first in the queue asks often, the others now and then. */
enum { PAUSE_FIRST = 1, PAUSE_MOST = 5, ASK_ANYWAY = 50, CALL_BACK = 20 }; /* milliseconds */

struct waiter {
    const char *path;
    HANDLE file;
    uint64_t arrived, begun, asked, called;
};

static bool pause_between(struct waiter *me, const struct rag_wait *wait) {
    const uint64_t now = rag_nanoseconds(), since = now - me->begun;
    const double left = wait->seconds * 1e3 - (double)since / 1e6;
    if (!(left > 0)) return false;
    if (wait->goes_on && now - me->called >= (uint64_t)CALL_BACK * 1000000) {
        me->called = now;
        if (!wait->goes_on(wait->context)) return false;
    }
    const double share = (double)since / 32e6;
    const double pause = share < PAUSE_FIRST  ? PAUSE_FIRST
                         : share > PAUSE_MOST ? PAUSE_MOST
                                              : share;
    Sleep((DWORD)(left < pause ? left + 1 : pause));
    return true;
}

static enum rag_status follow_name(struct waiter *me, struct rag_fault *fault) {
    bool made;
    if (me->file != INVALID_HANDLE_VALUE && is_named(me->file, me->path)) return RAG_OK;
    if (me->file != INVALID_HANDLE_VALUE) CloseHandle(me->file); /* and its place with it */
    me->file = open_kind(me->path, RAG_LOCK_WRITE, &made);
    if (me->file == INVALID_HANDLE_VALUE) return os_fail(fault, "open");
    while (!lock_range(me->file, QUEUE_AT + me->arrived, 1)) {
        if (GetLastError() != ERROR_LOCK_VIOLATION) return os_fail(fault, "lock");
        me->arrived++; /* one that came in the same moment */
    }
    return RAG_OK;
}

static enum rag_status wait_in_line(struct waiter *me, const struct rag_wait *wait,
                                    struct rag_fault *fault) {
    for (;;) {
        const enum rag_status status = follow_name(me, fault);
        if (status != RAG_OK) return status;
        const uint64_t now = rag_nanoseconds();
        if (!is_behind(me->file, me->arrived) ||
            now - me->asked >= (uint64_t)ASK_ANYWAY * 1000000) {
            me->asked = now;
            if (lock_range(me->file, LOCK_AT, 1)) {
                if (is_named(me->file, me->path)) return RAG_OK;
                unlock_range(me->file, LOCK_AT, 1);
                continue;
            }
        }
        if (!pause_between(me, wait)) {
            SetLastError(ERROR_LOCK_VIOLATION);
            return fail_locked(me->file, fault);
        }
    }
}

/* Whether this thread holds the file, so that waiting for it would never end. */
static bool holds(const char *path) {
    struct identity named;
    HANDLE file = open_file(path, FILE_READ_ATTRIBUTES);
    const bool known = file != INVALID_HANDLE_VALUE && identify(file, &named);
    bool found = false;
    if (file != INVALID_HANDLE_VALUE) CloseHandle(file);
    rag_mutex_lock(&held_guard);
    for (int i = 0; known && i < HELD_MAX && !found; i++)
        found = held[i].file && is_same(&held[i].identity, &named) &&
                held[i].thread == GetCurrentThreadId();
    rag_mutex_unlock(&held_guard);
    return found;
}

enum rag_status rag_lock_within(const char *path, enum rag_lock_kind kind,
                                const struct rag_wait *wait, rag_handle *out,
                                struct rag_fault *fault) {
    if (kind != RAG_LOCK_WRITE || !wait || !(wait->seconds > 0))
        return rag_lock(path, kind, out, fault);
    struct waiter me = {.path = path, .file = INVALID_HANDLE_VALUE};
    me.begun = me.asked = me.called = rag_nanoseconds();
    me.arrived = me.begun / 1000 + 1;
    enum rag_status status = open_locked(path, kind, me.arrived, out, fault);
    if (status != RAG_LOCKED) return status;
    if (holds(path))
        return rag_fail(fault, RAG_LOCKED, GetCurrentProcessId(),
                        "this thread is writing to the file already: end that edit first");
    status = wait_in_line(&me, wait, fault);
    if (me.file != INVALID_HANDLE_VALUE) unlock_range(me.file, QUEUE_AT + me.arrived, 1);
    if (status == RAG_OK) held_add(me.file);
    else if (me.file != INVALID_HANDLE_VALUE) CloseHandle(me.file);
    *out = (rag_handle)me.file;
    return status;
}

void rag_unlock(rag_handle file, bool own) {
    (void)own; /* processes are not forked */
    held_remove((HANDLE)file);
    unlock_range((HANDLE)file, LOCK_AT, 1);
    CloseHandle((HANDLE)file);
}

void rag_lock_announce(rag_handle file, uint64_t settled) {
    rag_mutex_lock(&held_guard);
    for (int i = 0; i < HELD_MAX; i++)
        if (held[i].file == (HANDLE)file && held[i].shown)
            atomic_store(&held[i].shown->settled, settled);
    rag_mutex_unlock(&held_guard);
}

/* ------------------------------------------------------------------------------- files to write */

enum rag_status rag_handle_map(rag_handle file, struct rag_map *map, struct rag_fault *fault) {
    return map_file((HANDLE)file, UINT64_MAX, map, fault);
}

enum rag_status rag_check_named(rag_handle file, const char *path, struct rag_fault *fault) {
    if (is_named((HANDLE)file, path)) return RAG_OK;
    return rag_fail(fault, RAG_ARGUMENT, 0, "the file was replaced while this writer held it");
}

enum rag_status rag_write_at(rag_handle file, uint64_t at, const void *bytes, size_t size,
                             struct rag_fault *fault) {
    const uint8_t *from = bytes;
    while (size > 0) {
        OVERLAPPED place = {.Offset = (DWORD)at, .OffsetHigh = (DWORD)(at >> 32)};
        const DWORD piece = size < ((size_t)1 << 30) ? (DWORD)size : (DWORD)1 << 30;
        DWORD done = 0;
        if (!WriteFile((HANDLE)file, from, piece, &done, &place)) return os_fail(fault, "write");
        if (done == 0) {
            SetLastError(ERROR_DISK_FULL);
            return os_fail(fault, "write");
        }
        from += done, at += done, size -= done;
    }
    return RAG_OK;
}

enum rag_status rag_set_size(rag_handle file, uint64_t size, struct rag_fault *fault) {
    FILE_END_OF_FILE_INFO end = {.EndOfFile.QuadPart = (LONGLONG)size};
    const bool done = SetFileInformationByHandle((HANDLE)file, FileEndOfFileInfo, &end, sizeof end);
    return done ? RAG_OK : os_fail(fault, "truncate");
}

/* Files that are not sparse keep their room, and sparse ones stay sparse for ever. */
void rag_free_room(rag_handle file, uint64_t from) { (void)file, (void)from; }

enum rag_status rag_sync(rag_handle file, struct rag_fault *fault) {
    return FlushFileBuffers((HANDLE)file) ? RAG_OK : os_fail(fault, "sync");
}

enum rag_status rag_can_replace(const char *path, bool *exists, struct rag_fault *fault) {
    HANDLE file = open_file(path, FILE_READ_ATTRIBUTES);
    *exists = file != INVALID_HANDLE_VALUE;
    if (*exists) CloseHandle(file);
    if (*exists || errno_of(GetLastError()) == ENOENT) return RAG_OK;
    return os_fail(fault, "create");
}

/* The list of who may do what. Owner and group stay those of this process. */
enum rag_status rag_copy_rights(rag_handle file, const char *path, struct rag_fault *fault) {
    enum { ROOM = 4096 };
    DWORD needed = 0;
    uint64_t room[ROOM / 8];
    HANDLE old = open_file(path, READ_CONTROL);
    if (old == INVALID_HANDLE_VALUE)
        return errno_of(GetLastError()) == ENOENT ? RAG_OK : os_fail(fault, "stat");
    PSECURITY_DESCRIPTOR rights = room;
    bool done =
        GetKernelObjectSecurity(old, DACL_SECURITY_INFORMATION, rights, sizeof room, &needed);
    if (!done && GetLastError() == ERROR_INSUFFICIENT_BUFFER && (rights = malloc(needed)))
        done = GetKernelObjectSecurity(old, DACL_SECURITY_INFORMATION, rights, needed, &needed);
    done = done && SetKernelObjectSecurity((HANDLE)file, DACL_SECURITY_INFORMATION, rights);
    const enum rag_status status = done ? RAG_OK : os_fail(fault, "change rights");
    if (rights != room) free(rights);
    CloseHandle(old);
    return status;
}

/* Renames at once if nothing maps the target. */
static bool rename_over(const wchar_t *from, const wchar_t *to) {
#ifdef RAG_STEP_ASIDE /* for tests: as if every target were mapped */
    if (exists(to)) {
        SetLastError(ERROR_ACCESS_DENIED);
        return false;
    }
#endif
    return MoveFileExW(from, to, MOVEFILE_REPLACE_EXISTING | MOVEFILE_WRITE_THROUGH);
}

/* A name that is aside while the target exists is of a writer that died after it was done. */
static bool swap(const wchar_t *from, const wchar_t *to, const wchar_t *aside, const wchar_t *old) {
    if (exists(aside)) (void)MoveFileExW(aside, old, MOVEFILE_WRITE_THROUGH);
    if (!MoveFileExW(to, aside, MOVEFILE_WRITE_THROUGH)) return false;
#ifdef RAG_STEP_ASIDE
    if (getenv("RAGFILE_DIE_ASIDE")) TerminateProcess(GetCurrentProcess(), 9);
#endif
    if (MoveFileExW(from, to, MOVEFILE_WRITE_THROUGH)) return true;
    const DWORD error = GetLastError();
    (void)MoveFileExW(aside, to, MOVEFILE_WRITE_THROUGH);
    SetLastError(error);
    return false;
}

static bool step_aside(const wchar_t *from, const wchar_t *to) {
    wchar_t ending[32];
    remove_old(to, ending);
    wchar_t *aside = beside(to, ASIDE), *old = beside(to, ending);
    bool done = false;
    if (!aside || !old) SetLastError(ERROR_NOT_ENOUGH_MEMORY);
    else done = swap(from, to, aside, old);
    const DWORD error = GetLastError();
    if (done && !DeleteFileW(aside)) (void)MoveFileExW(aside, old, MOVEFILE_WRITE_THROUGH);
    free(aside);
    free(old);
    SetLastError(error);
    return done;
}

enum rag_status rag_replace(const char *from, const char *to, struct rag_fault *fault) {
    wchar_t *source = wide_of(from), *target = wide_of(to);
    bool done = source && target && rename_over(source, target);
    if (!done && source && target) {
        const DWORD error = GetLastError();
        const bool in_use = error == ERROR_ACCESS_DENIED || error == ERROR_USER_MAPPED_FILE ||
                            error == ERROR_SHARING_VIOLATION;
        done = in_use && step_aside(source, target);
        if (!in_use) SetLastError(error);
    }
    const enum rag_status status = done ? RAG_OK : os_fail(fault, "rename");
    free(source);
    free(target);
    return status;
}

/* Renames are written through. */
enum rag_status rag_sync_name(const char *path, struct rag_fault *fault) {
    (void)path, (void)fault;
    return RAG_OK;
}

void rag_remove(const char *path) {
    wchar_t *wide = wide_of(path);
    if (wide) (void)DeleteFileW(wide);
    free(wide);
}

/* -------------------------------------------------------------------------------- memory, clock */

void *rag_aligned(size_t size) { return _aligned_malloc(size, 64); }
void rag_aligned_free(void *block) { _aligned_free(block); }

uint64_t rag_nanoseconds(void) {
    static _Atomic int64_t frequency;
    LARGE_INTEGER now;
    int64_t each = atomic_load_explicit(&frequency, memory_order_relaxed);
    if (each == 0) {
        LARGE_INTEGER found;
        QueryPerformanceFrequency(&found);
        atomic_store_explicit(&frequency, each = found.QuadPart, memory_order_relaxed);
    }
    QueryPerformanceCounter(&now);
    const uint64_t ticks = (uint64_t)now.QuadPart, second = (uint64_t)each;
    return ticks / second * 1000000000u + ticks % second * 1000000000u / second;
}

/* ------------------------------------------------------------------------ processes and threads */

int64_t rag_process(void) { return GetCurrentProcessId(); }
void rag_after_fork(void (*in_child)(void)) { (void)in_child; }
bool rag_has_dotprod(void) { return IsProcessorFeaturePresent(43); } /* ARM v8.2 DP */

int rag_cpu_count(void) {
    DWORD_PTR mine, all;
    if (!GetProcessAffinityMask(GetCurrentProcess(), &mine, &all) || !mine) return 1;
    return __builtin_popcountll(mine);
}

_Static_assert(sizeof(rag_mutex) == sizeof(SRWLOCK), "a mutex is the system's");
_Static_assert(sizeof(rag_event) == sizeof(CONDITION_VARIABLE), "an event is the system's");
void rag_mutex_open(rag_mutex *mutex) { InitializeSRWLock((SRWLOCK *)mutex); }
void rag_mutex_lock(rag_mutex *mutex) { AcquireSRWLockExclusive((SRWLOCK *)mutex); }
void rag_mutex_unlock(rag_mutex *mutex) { ReleaseSRWLockExclusive((SRWLOCK *)mutex); }
void rag_event_open(rag_event *event) { InitializeConditionVariable((CONDITION_VARIABLE *)event); }
void rag_event_wait(rag_event *event, rag_mutex *mutex) {
    SleepConditionVariableSRW((CONDITION_VARIABLE *)event, (SRWLOCK *)mutex, INFINITE, 0);
}
void rag_event_wake_one(rag_event *event) { WakeConditionVariable((CONDITION_VARIABLE *)event); }
void rag_event_wake_all(rag_event *event) { WakeAllConditionVariable((CONDITION_VARIABLE *)event); }

struct start {
    void *(*work)(void *given);
    void *given;
};

static DWORD WINAPI run_thread(void *given) {
    const struct start start = *(struct start *)given;
    free(given);
    start.work(start.given);
    return 0;
}

bool rag_thread_start(rag_thread *thread, void *(*work)(void *given), void *given) {
    DWORD number;
    struct start *start = malloc(sizeof *start);
    if (!start) return false;
    *start = (struct start){work, given};
    HANDLE made = CreateThread(NULL, 0, run_thread, start, 0, &number);
    if (!made) free(start);
    if (!made) return false;
    CloseHandle(made);
    *thread = number;
    return true;
}

/* The system places threads well by itself. */
rag_thread rag_this_thread(void) { return GetCurrentThreadId(); }
int rag_this_cpu(void) { return (int)GetCurrentProcessorNumber(); }
rag_cpus rag_allowed_cpus(void) { return (rag_cpus){0}; }
void rag_thread_place(rag_thread thread, const rag_cpus *allowed) { (void)thread, (void)allowed; }
#endif /* _WIN32 */
