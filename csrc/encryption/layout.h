/* layout.h - offsets and sizes of an encrypted file. spec/parts/encryption.md explains them.
 *
 *   0      page of the header (PAGE_*), 4096 bytes
 *   4096   the same page again: the one with the higher sequence holds
 *   8192   block 0, block 1, … each at a multiple of the stride after the header
 *            0     salt (32)   nonce (12)   length u32
 *            48    cipher text: `length` bytes, then the tag (16)
 *            …     zero to the stride; nothing after the file's last block
 *
 * A block holds stride - 64 bytes of the inner file, or fewer at the end of a commit. */
#ifndef RAG_ENCRYPTION_LAYOUT_H
#define RAG_ENCRYPTION_LAYOUT_H

#include "ragfile/encryption.h"

enum {
    PAGE_VERSION = 8,   /* u32 */
    PAGE_CIPHER = 12,   /* u32: AES-256-GCM */
    PAGE_STRIDE = 16,   /* u32 */
    PAGE_COUNT = 20,    /* u32: slots */
    PAGE_SEQUENCE = 24, /* u64 */
    PAGE_ID = 32,
    PAGE_SLOTS = 64,
    PAGE_HASH = 4088, /* xxh3-64 of the page up to here */

    SLOT_SIZE = 128,
    SLOT_KIND = 0, /* u32: a key of 256 bits */
    SLOT_ZERO = 4,
    SLOT_SALT = 8,
    SLOT_NONCE = 40,
    SLOT_WRAPPED = 52,
    SLOT_END = 100, /* zero from here */

    CRYPT_VERSION = 1,
    CRYPT_AES_GCM = 1,
    CRYPT_KEY_SLOT = 1,
    STRIDE_LEAST = 4096,
    STRIDE_MOST = 65536,

    BLOCK_SALT = 0,
    BLOCK_NONCE = 32,
    BLOCK_LENGTH = 44, /* u32 */
    BLOCK_TEXT = 48,
    BLOCK_EXTRA = 64, /* head and tag */

    AAD_SIZE = 28, /* id (16), index u64, length u32 */
    BATCH = 64,    /* blocks that go to the cipher together */
};

#define CRYPT_MAGIC "RAGCRYPT"

static inline uint32_t payload_of(uint32_t stride) { return stride - BLOCK_EXTRA; }

static inline uint64_t outer_of(uint32_t stride, uint64_t index) {
    return RAG_CRYPT_HEADER + index * stride;
}

/* The data that a block authenticates besides its text. */
void rag_crypt_aad(uint8_t *aad, const uint8_t *id, uint64_t index, uint32_t length);

/* As rag_plain_open, but a trailer at the end counts as blocks: a writer steps over it. */
enum rag_status rag_plain_open_whole(const uint8_t *outer, uint64_t size,
                                     const struct rag_cipher *cipher, struct rag_plain **plain,
                                     struct rag_fault *fault);

/* The memory of the plain bytes, whose owner the caller becomes. */
struct rag_map rag_plain_take(struct rag_plain *plain);

#endif
