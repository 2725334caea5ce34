/* files.c - files that are written under a lock, and renamed to their final names when complete.
 *
 * Small writes that follow one another are gathered and written together: a section has up to four
 * parts, and a small commit ten sections. Gathered bytes are written before anything that could
 * notice that they are missing: a map, a sync, another size, a new name. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "ragfile/machine.h"
#include "encryption/encrypted_file.h"
#include "shared/fail.h"
#include "system/files.h"
#include "system/system.h"

enum { NAME_BYTES = 255 }; /* of the longest name in a folder */
enum { GATHERED_MOST = 1 << 18, GATHERED_EACH = 1 << 16 };

struct rag_file {
    rag_handle handle, target; /* target: the lock of the file that this one replaces, or none */
    int64_t owner;             /* a forked child must neither write nor clean up */
    char *path;                /* where it shall end up */
    char *partial;             /* where it is being made, or NULL when path itself is written */
    uint8_t *gathered;         /* bytes to be written at gathered_at */
    size_t gathered_size;
    uint64_t gathered_at;
    struct rag_encryption *encryption; /* NULL for a plain file */
};

static char *copy_of(const char *text) {
    const size_t size = strlen(text) + 1;
    char *made = malloc(size);
    return made ? memcpy(made, text, size) : NULL;
}

/* The temporary name next to the file. Names that are too long are replaced by their hash. */
static char *partial_path(const char *path) {
    const size_t folder = rag_folder_length(path), size = strlen(path + folder);
    const size_t room = strlen(path) + sizeof "..partial" + 16;
    const char *name = path + folder;
    char *made = malloc(room);
    if (!made) return NULL;
    memcpy(made, path, folder);
    if (size + sizeof "..partial" <= NAME_BYTES + 1)
        snprintf(made + folder, room - folder, ".%s.partial", name);
    else
        snprintf(made + folder, room - folder, ".%016llx.partial",
                 (unsigned long long)rag_hash(name, size));
    return made;
}

static bool is_own(const struct rag_file *file) { return file->owner == rag_process(); }

static void file_close(struct rag_file *file) {
    if (!file) return;
    if (file->handle != RAG_NO_HANDLE) rag_unlock(file->handle, is_own(file));
    if (file->target != RAG_NO_HANDLE) rag_unlock(file->target, is_own(file));
    free(file->path);
    free(file->partial);
    free(file->gathered);
    rag_encryption_close(file->encryption);
    free(file);
}

static enum rag_status file_new(const char *path, enum rag_lock_kind kind,
                                const struct rag_wait *wait, struct rag_file **out,
                                struct rag_fault *fault) {
    const bool partial = kind == RAG_LOCK_NEW;
    struct rag_file *file = calloc(1, sizeof *file);
    if (!file) return rag_fail(fault, RAG_MEMORY, 0, "no memory");
    file->handle = file->target = RAG_NO_HANDLE;
    file->owner = rag_process();
    file->path = copy_of(path);
    file->partial = partial ? partial_path(path) : NULL;
    enum rag_status status = RAG_OK;
    if (!file->path || (partial && !file->partial))
        status = rag_fail(fault, RAG_MEMORY, 0, "no memory");
    if (status == RAG_OK)
        status = rag_lock_within(partial ? file->partial : path, kind, wait, &file->handle, fault);
    if (status == RAG_OK) *out = file;
    else file_close(file);
    return status;
}

enum rag_status rag_file_create(const char *path, struct rag_file **out, struct rag_fault *fault) {
    bool replaces;
    enum rag_status status = rag_can_replace(path, &replaces, fault);
    if (status == RAG_OK) status = file_new(path, RAG_LOCK_NEW, NULL, out, fault);
    if (status != RAG_OK || !replaces) return status;
    status = rag_copy_rights((*out)->handle, path, fault);
    if (status == RAG_OK) return RAG_OK;
    rag_file_discard(*out);
    *out = NULL;
    return status;
}

enum rag_status rag_file_edit(const char *path, const struct rag_wait *wait, struct rag_file **out,
                              struct rag_fault *fault) {
    return file_new(path, RAG_LOCK_WRITE, wait, out, fault);
}

enum rag_status rag_file_encrypt(struct rag_file *file, const struct rag_cipher *cipher,
                                 const struct rag_crypt_header *slots, struct rag_fault *fault) {
    return rag_encryption_create(file->handle, cipher, slots, &file->encryption, fault);
}

enum rag_status rag_file_decrypt(struct rag_file *file, const struct rag_cipher *cipher,
                                 bool *encrypted, struct rag_fault *fault) {
    struct rag_map map;
    uint8_t head[8];
    if (rag_file_read(file, 0, head, sizeof head)) {
        *encrypted = rag_is_encrypted(head, sizeof head);
    } else {
        const enum rag_status status = rag_handle_map(file->handle, &map, fault);
        if (status != RAG_OK) return status;
        *encrypted = rag_is_encrypted(map.bytes, map.size);
        rag_map_close(&map);
    }
    if (!*encrypted) return RAG_OK;
    if (!cipher) return rag_fail(fault, RAG_KEY, 0, "the file is encrypted: give its key");
    return rag_encryption_edit(file->handle, cipher, &file->encryption, fault);
}

bool rag_file_read(const struct rag_file *file, uint64_t at, void *bytes, size_t size) {
    return rag_read_at(file->handle, at, bytes, size);
}

struct rag_encryption *rag_file_encryption(const struct rag_file *file) { return file->encryption; }

void rag_file_settled(struct rag_file *file, uint64_t end) {
    if (end && file->encryption) end = rag_encryption_outer(file->encryption, end);
    if (is_own(file)) rag_lock_announce(file->handle, end);
}

const char *rag_file_path(const struct rag_file *file) { return file->path; }

enum rag_status rag_file_named(struct rag_file *file, struct rag_fault *fault) {
    return rag_check_named(file->handle, file->path, fault);
}

static enum rag_status check_own(const struct rag_file *file, struct rag_fault *fault) {
    if (is_own(file)) return RAG_OK;
    return rag_fail(fault, RAG_ARGUMENT, (uint64_t)file->owner,
                    "this writer belongs to another process");
}

static enum rag_status put(struct rag_file *file, uint64_t at, const void *bytes, size_t size,
                           struct rag_fault *fault) {
    return file->encryption ? rag_encryption_write(file->encryption, at, bytes, size, fault)
                            : rag_write_at(file->handle, at, bytes, size, fault);
}

enum rag_status rag_file_flush(struct rag_file *file, struct rag_fault *fault) {
    const size_t size = file->gathered_size;
    if (size == 0) return RAG_OK;
    const enum rag_status status = check_own(file, fault);
    file->gathered_size = 0;
    if (status != RAG_OK) return status;
    return put(file, file->gathered_at, file->gathered, size, fault);
}

/* Adds bytes to those that were gathered; false if they do not follow them or are too many. */
static bool gather(struct rag_file *file, uint64_t at, const void *bytes, size_t size) {
    if (size > GATHERED_EACH || size > GATHERED_MOST - file->gathered_size) return false;
    if (file->gathered_size && at != file->gathered_at + file->gathered_size) return false;
    if (!file->gathered && !(file->gathered = malloc(GATHERED_MOST))) return false;
    if (file->gathered_size == 0) file->gathered_at = at;
    if (size) memcpy(file->gathered + file->gathered_size, bytes, size);
    file->gathered_size += size;
    return true;
}

enum rag_status rag_file_write(struct rag_file *file, uint64_t at, const void *bytes, size_t size,
                               struct rag_fault *fault) {
    enum rag_status status = check_own(file, fault);
    if (status != RAG_OK || gather(file, at, bytes, size)) return status;
    status = rag_file_flush(file, fault);
    if (status != RAG_OK || gather(file, at, bytes, size)) return status;
    return put(file, at, bytes, size, fault);
}

enum rag_status rag_file_map_part(struct rag_file *file, uint64_t from, uint64_t to,
                                  struct rag_map *map, struct rag_fault *fault) {
    const enum rag_status status = rag_file_flush(file, fault);
    if (status != RAG_OK) return status;
    return file->encryption ? rag_encryption_map(file->encryption, from, to, map, fault)
                            : rag_handle_map(file->handle, map, fault);
}

enum rag_status rag_file_map(struct rag_file *file, struct rag_map *map, struct rag_fault *fault) {
    return rag_file_map_part(file, 0, (uint64_t)1 << 60, map, fault);
}

enum rag_status rag_file_map_stored(struct rag_file *file, struct rag_map *map,
                                    struct rag_fault *fault) {
    const enum rag_status status = rag_file_flush(file, fault);
    return status == RAG_OK ? rag_handle_map(file->handle, map, fault) : status;
}

enum rag_status rag_file_write_stored(struct rag_file *file, uint64_t at, const void *bytes,
                                      size_t size, struct rag_fault *fault) {
    const enum rag_status status = check_own(file, fault);
    return status == RAG_OK ? rag_write_at(file->handle, at, bytes, size, fault) : status;
}

void rag_file_release(struct rag_file *file, uint64_t from) {
    file->gathered_size = 0;
    if (file->encryption) from = rag_encryption_outer(file->encryption, from);
    if (is_own(file)) rag_free_room(file->handle, from);
}

enum rag_status rag_file_truncate(struct rag_file *file, uint64_t size, struct rag_fault *fault) {
    enum rag_status status = check_own(file, fault);
    if (status == RAG_OK && file->encryption)
        status = rag_fail(fault, RAG_ARGUMENT, size, "an encrypted file is not truncated");
    if (status == RAG_OK) status = rag_file_flush(file, fault);
    return status == RAG_OK ? rag_set_size(file->handle, size, fault) : status;
}

enum rag_status rag_file_sync(struct rag_file *file, struct rag_fault *fault) {
    const enum rag_status status = rag_file_flush(file, fault);
    return status == RAG_OK ? rag_sync(file->handle, fault) : status;
}

/* Checks that the file to be replaced has no other writer. */
static enum rag_status lock_target(struct rag_file *file, struct rag_fault *fault) {
    bool exists;
    const enum rag_status status = rag_can_replace(file->path, &exists, fault);
    return status == RAG_OK && exists ? rag_lock(file->path, RAG_LOCK_ONLY, &file->target, fault)
                                      : status;
}

enum rag_status rag_file_publish(struct rag_file *file, bool replace_own, struct rag_fault *fault) {
    enum rag_status status = rag_file_sync(file, fault);
    if (status == RAG_OK && !replace_own) status = lock_target(file, fault);
    if (status == RAG_OK) status = rag_replace(file->partial, file->path, fault);
    if (status != RAG_OK) return status;
    free(file->partial);
    file->partial = NULL;
    return rag_sync_name(file->path, fault);
}

void rag_file_discard(struct rag_file *file) {
    if (file && file->partial && is_own(file))
        rag_remove(file->partial); /* before the lock goes: surely ours */
    if (file && !file->partial && is_own(file)) (void)rag_file_flush(file, NULL);
    file_close(file);
}
