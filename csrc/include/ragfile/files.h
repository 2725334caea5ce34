/* files.h - memory maps, and files that are written and then renamed into place. */
#ifndef RAGFILE_FILES_H
#define RAGFILE_FILES_H

#include "ragfile/status.h"

struct rag_cipher;
struct rag_crypt_header;
struct rag_plain;

/* A file mapped for reading. After rag_map_stat, only its size and identity: bytes is NULL. */
struct rag_map {
    const uint8_t *bytes;
    size_t size;
    uint64_t device, inode;
};

/* Map a file, or only stat it, without the bytes of a commit in progress: the size is that
 * before the active writer began (posix.c). */
enum rag_status rag_map_open(const char *path, struct rag_map *map, struct rag_fault *fault);
enum rag_status rag_map_stat(const char *path, struct rag_map *map, struct rag_fault *fault);

/* Map an open file; or map it over an existing map, whose pointers stay valid. */
enum rag_status rag_map_descriptor(int fd, struct rag_map *map, struct rag_fault *fault);
enum rag_status rag_map_exchange(int fd, const struct rag_map *map, struct rag_fault *fault);
void rag_map_close(struct rag_map *map);

/* Private memory of zeros, which takes no room before it is used. map->bytes may be cast to
 * non-const. */
enum rag_status rag_map_memory(uint64_t size, struct rag_map *map, struct rag_fault *fault);

/* A writable private copy of a file, at least `room` bytes long and zero after the file's end.
 * Only written pages use memory. map->bytes may be cast to non-const. */
enum rag_status rag_map_copy(const char *path, uint64_t room, struct rag_map *map,
                             struct rag_fault *fault);

/* A new file that is created next to `path` and renamed to it when complete. Until then it locks
 * that name: a second writer fails with RAG_LOCKED. It gets the owner, group and mode of the
 * file that it replaces before its first byte is written. Only regular files are replaced. */
struct rag_file;
enum rag_status rag_file_create(const char *path, struct rag_file **file, struct rag_fault *fault);
enum rag_status rag_file_write(struct rag_file *file, uint64_t at, const void *bytes, size_t size,
                               struct rag_fault *fault);
enum rag_status rag_file_truncate(struct rag_file *file, uint64_t size, struct rag_fault *fault);
enum rag_status rag_file_map(struct rag_file *file, struct rag_map *map, struct rag_fault *fault);

/* Encrypts what is written to a new file from now on, before anything is. The file's header gets
 * the given key slots. */
enum rag_status rag_file_encrypt(struct rag_file *file, const struct rag_cipher *cipher,
                                 const struct rag_crypt_header *slots, struct rag_fault *fault);

/* Syncs the file and renames it to its final name. replace_own: the caller holds the lock of the
 * replaced file. */
enum rag_status rag_file_publish(struct rag_file *file, bool replace_own, struct rag_fault *fault);

/* How long a writer waits for another one. NULL, or zero seconds: it asks once. While it waits it
 * calls goes_on, unless that is NULL, some fifty times a second; false ends the wait. */
struct rag_wait {
    double seconds;
    bool (*goes_on)(void *context);
    void *context;
};

/* Opens an existing file under the writer's lock, without reading it. Waiting writers take their
 * turns in order of arrival, among all processes of the machine. The file is the one that has the
 * name in the end. After RAG_LOCKED nothing is held and nothing waits, and fault->at is the pid of
 * the holder. A thread that holds the file itself gets RAG_LOCKED at once. */
enum rag_status rag_file_edit(const char *path, const struct rag_wait *wait, struct rag_file **file,
                              struct rag_fault *fault);

/* Closes the file; removes it if it is new and was not published. Bytes that were written into an
 * existing file stay, but only a sync or a map reports that they could not be written. */
void rag_file_discard(struct rag_file *file);

/* The pid of the process that is writing to path; 0 if there is none, or it is unknown. */
int64_t rag_writer_pid(const char *path);

#endif
