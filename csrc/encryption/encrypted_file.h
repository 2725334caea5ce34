/* encrypted_file.h - writing an encrypted file: ranges of inner bytes become blocks. */
#ifndef RAG_ENCRYPTED_FILE_H
#define RAG_ENCRYPTED_FILE_H

#include "ragfile/encryption.h"
#include "system/system.h"

/* The writer of one file. It writes with a salt of its own, and a new nonce for every write of a
 * block. One thread. */
struct rag_encryption;

/* For a new file: makes its id and writes the header, with the slots of the given one. */
enum rag_status rag_encryption_create(rag_handle file, const struct rag_cipher *cipher,
                                      const struct rag_crypt_header *slots,
                                      struct rag_encryption **out, struct rag_fault *fault);

/* For a file that exists: reads its header, and has the cipher unlock it. */
enum rag_status rag_encryption_edit(rag_handle file, const struct rag_cipher *cipher,
                                    struct rag_encryption **out, struct rag_fault *fault);

/* Writes inner bytes. Blocks that are written in part keep the rest of what this writer put
 * there. */
enum rag_status rag_encryption_write(struct rag_encryption *e, uint64_t at, const void *bytes,
                                     size_t size, struct rag_fault *fault);

/* Private memory of the inner file's size, in which [from, to) is decrypted. */
enum rag_status rag_encryption_map(struct rag_encryption *e, uint64_t from, uint64_t to,
                                   struct rag_map *map, struct rag_fault *fault);

/* The file as it is now, as a source. It has the outer bytes mapped. */
enum rag_status rag_encryption_plain(struct rag_encryption *e, struct rag_map *outer,
                                     struct rag_plain **plain, struct rag_fault *fault);

/* Where the first block begins that may hold inner bytes from `at` on. */
uint64_t rag_encryption_outer(const struct rag_encryption *e, uint64_t at);

/* The inner bytes of a whole block: commits begin at multiples. */
uint32_t rag_encryption_payload(const struct rag_encryption *e);

const struct rag_crypt_header *rag_encryption_header(const struct rag_encryption *e);
const struct rag_cipher *rag_encryption_cipher(const struct rag_encryption *e);
void rag_encryption_close(struct rag_encryption *e);

#endif
