/* files.h - functions of files.c that only the container uses. */
#ifndef RAG_FILES_H
#define RAG_FILES_H

#include "ragfile/files.h"

/* Whether an existing file is encrypted; then the cipher unlocks it, and offsets are those of the
 * inner file from now on. RAG_KEY without a cipher. */
enum rag_status rag_file_decrypt(struct rag_file *file, const struct rag_cipher *cipher,
                                 bool *encrypted, struct rag_fault *fault);

/* The writer of an encrypted file's blocks; NULL for a plain file. */
struct rag_encryption;
struct rag_encryption *rag_file_encryption(const struct rag_file *file);

/* Bytes of a file in [from, to), at least, at their offsets in a map. */
enum rag_status rag_file_map_part(struct rag_file *file, uint64_t from, uint64_t to,
                                  struct rag_map *map, struct rag_fault *fault);

/* The bytes of an encrypted file as they are stored, and writing some. */
enum rag_status rag_file_map_stored(struct rag_file *file, struct rag_map *map,
                                    struct rag_fault *fault);
enum rag_status rag_file_write_stored(struct rag_file *file, uint64_t at, const void *bytes,
                                      size_t size, struct rag_fault *fault);

/* Reads bytes as the disk has them; false if that is not possible for all of them. */
bool rag_file_read(const struct rag_file *file, uint64_t at, void *bytes, size_t size);

const char *rag_file_path(const struct rag_file *file);

/* Announces that bytes from `end` on are not committed, so that readers can ignore them; 0:
 * unknown. */
void rag_file_settled(struct rag_file *file, uint64_t end);

/* RAG_OK if the path still names this file, so that readers will see the bytes written. */
enum rag_status rag_file_named(struct rag_file *file, struct rag_fault *fault);

/* Writes bytes that rag_file_write has gathered; maps, syncs and publishing do so, too. */
enum rag_status rag_file_flush(struct rag_file *file, struct rag_fault *fault);
enum rag_status rag_file_sync(struct rag_file *file, struct rag_fault *fault);

/* Releases the disk space from `from` on, if the system can. The bytes become zero and the file
 * keeps its size, so that maps of it stay valid. */
void rag_file_release(struct rag_file *file, uint64_t from);

#endif
