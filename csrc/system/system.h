/* system.h - all that the library asks of the operating system, and the promise of each function.
 *
 * posix.c and windows.c implement this header, rag_cpu_count, and the maps of ragfile/files.h, each
 * for its systems. No other file of the library includes a header of the system. What differs
 * between systems is behind a promise: whether a mapped file can be replaced, how a lock finds its
 * holder, how a thread is placed. */
#ifndef RAG_SYSTEM_H
#define RAG_SYSTEM_H

#ifndef _WIN32
#include <pthread.h>
#endif

#include "ragfile/files.h"

/* ------------------------------------------------------------------------------- files to write */

/* A file that this process holds: see rag_lock. */
typedef intptr_t rag_handle;
#define RAG_NO_HANDLE ((rag_handle) - 1)

enum rag_lock_kind {
    RAG_LOCK_NEW,   /* create it, in place of a dead writer's leftover of that name */
    RAG_LOCK_WRITE, /* open it to write */
    RAG_LOCK_ONLY,  /* lock it, because another file is about to replace it */
};

/* Opens the file that a path names, and holds it against other writers, in this process and in
 * others, until rag_unlock or the end of the process. If another has it, the status is RAG_LOCKED
 * at once; fault->at is the process, 0 if unknown. The lock is that of the file that has the name
 * when the function returns. */
enum rag_status rag_lock(const char *path, enum rag_lock_kind kind, rag_handle *out,
                         struct rag_fault *fault);

/* As rag_lock, but waits for the file as files.h promises: in order of arrival, as far as the
 * system records it, and never for this thread itself. */
enum rag_status rag_lock_within(const char *path, enum rag_lock_kind kind,
                                const struct rag_wait *wait, rag_handle *out,
                                struct rag_fault *fault);

/* Announces to readers that bytes from `settled` on are not committed; 0: look at everything. */
void rag_lock_announce(rag_handle file, uint64_t settled);

/* Closes a file and releases its lock, also if forked children inherited it. Without `own`, in such
 * a child, the lock stays with the parent. */
void rag_unlock(rag_handle file, bool own);

/* As rag_map_open, and keeps the file open for rag_read_at, until rag_map_let_go. `file` may be
 * RAG_NO_HANDLE, of which nothing can be read. */
enum rag_status rag_map_and_keep(const char *path, struct rag_map *map, rag_handle *file,
                                 struct rag_fault *fault);
void rag_map_let_go(rag_handle file);

/* Reads bytes at an offset; false unless all of them are read. */
bool rag_read_at(rag_handle file, uint64_t at, void *bytes, size_t size);

/* Maps a file that is held, whatever is announced. */
enum rag_status rag_handle_map(rag_handle file, struct rag_map *map, struct rag_fault *fault);

/* RAG_OK if a path still names a file that is held. */
enum rag_status rag_check_named(rag_handle file, const char *path, struct rag_fault *fault);

/* Writes all bytes at an offset, or fails. No other thread's position is moved. */
enum rag_status rag_write_at(rag_handle file, uint64_t at, const void *bytes, size_t size,
                             struct rag_fault *fault);

/* Changes a file's size. Cutting a file that is mapped may fail. */
enum rag_status rag_set_size(rag_handle file, uint64_t size, struct rag_fault *fault);

/* Gives back the room from an offset on, if the system can: the bytes become zero, and the size
 * stays. */
void rag_free_room(rag_handle file, uint64_t from);

/* Returns once the bytes of a file are on the disk. */
enum rag_status rag_sync(rag_handle file, struct rag_fault *fault);

/* Whether a path can be replaced: it is a regular file (*exists), or nothing is there. */
enum rag_status rag_can_replace(const char *path, bool *exists, struct rag_fault *fault);

/* Gives a file the owner, group and mode of another, as far as the system allows, and never more
 * rights. No effect if there is no other file. */
enum rag_status rag_copy_rights(rag_handle file, const char *path, struct rag_fault *fault);

/* Gives a file another's name at once: every open of that name finds the old file or the new one.
 * Readers keep the old file, and its maps their bytes. Durable after rag_sync_name. */
enum rag_status rag_replace(const char *from, const char *to, struct rag_fault *fault);
enum rag_status rag_sync_name(const char *path, struct rag_fault *fault);

/* Removes a file's name, if it is there. Readers keep the file. */
void rag_remove(const char *path);

/* The length of a path's folder, with its separator; 0 for a bare name. */
size_t rag_folder_length(const char *path);

/* -------------------------------------------------------------------------------- memory, clock */

/* A block of at least `size` bytes that begins at a multiple of 64, or NULL. Only rag_aligned_free
 * frees it. */
void *rag_aligned(size_t size);
void rag_aligned_free(void *block);

/* A clock that never goes back. */
uint64_t rag_nanoseconds(void);

/* ------------------------------------------------------------------------ processes and threads */

/* The number of this process; a forked child has another. */
int64_t rag_process(void);

/* Calls in_child in every child that is forked from now on, before its first own statement. */
void rag_after_fork(void (*in_child)(void));

/* Whether this ARM processor has the instructions of "dotprod". */
bool rag_has_dotprod(void);

/* A mutex, and an event that threads wait for while they hold it. Both work from their initializer
 * on, cannot fail, and hold no resources. In a forked child they must be opened again. */
#ifdef _WIN32
typedef struct {
    void *state;
} rag_mutex, rag_event; /* as SRWLOCK and CONDITION_VARIABLE */
typedef uintptr_t rag_thread;
#define RAG_MUTEX {NULL}
#define RAG_EVENT {NULL}
#else
typedef pthread_mutex_t rag_mutex;
typedef pthread_cond_t rag_event;
typedef pthread_t rag_thread;
#define RAG_MUTEX PTHREAD_MUTEX_INITIALIZER
#define RAG_EVENT PTHREAD_COND_INITIALIZER
#endif
void rag_mutex_open(rag_mutex *mutex);
void rag_mutex_lock(rag_mutex *mutex);
void rag_mutex_unlock(rag_mutex *mutex);
void rag_event_open(rag_event *event);
void rag_event_wait(rag_event *event, rag_mutex *mutex);
void rag_event_wake_one(rag_event *event);
void rag_event_wake_all(rag_event *event);

/* Starts a thread that is not joined; false if there can be no more. */
bool rag_thread_start(rag_thread *thread, void *(*work)(void *given), void *given);
rag_thread rag_this_thread(void);

/* A set of CPUs, a bit for each; all zero if the system does not report it. */
typedef struct {
    uint64_t bits[16];
} rag_cpus;

/* The CPU that this thread runs on, the CPUs that it may run on, and a change of these: a hint. */
int rag_this_cpu(void);
rag_cpus rag_allowed_cpus(void);
void rag_thread_place(rag_thread thread, const rag_cpus *allowed);

#endif
