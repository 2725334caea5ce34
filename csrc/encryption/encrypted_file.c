/* encrypted_file.c - writes an encrypted file block by block.
 *
 * A writer has a salt of its own, from which the cipher makes its key, and takes a random nonce for
 * every write of a block. So no pair of key and nonce comes twice: not when a block is written
 * again, not in another commit, and not in a copy of the file that another process edits.
 *
 * Commits begin in blocks of their own, so a block with committed bytes is never written again. */
#include <stdlib.h>
#include <string.h>

#include "encryption/encrypted_file.h"
#include "encryption/layout.h"
#include "shared/bytes.h"
#include "shared/fail.h"

struct rag_encryption {
    rag_handle file;
    struct rag_cipher cipher;
    struct rag_crypt_header header;
    uint32_t payload;
    uint8_t salt[RAG_CRYPT_SALT];
    uint64_t count; /* blocks that the file has */
    uint8_t *last;  /* the plain bytes of the block that was written last in part */
    uint64_t last_index;
    uint32_t last_size; /* 0: none */
    uint8_t *out;       /* BATCH blocks */
};

static enum rag_status encryption_new(rag_handle file, const struct rag_cipher *cipher,
                                      struct rag_encryption **out, struct rag_fault *fault) {
    struct rag_encryption *e = calloc(1, sizeof *e);
    if (!e) return rag_fail(fault, RAG_MEMORY, 0, "no memory");
    e->file = file;
    e->cipher = *cipher;
    *out = e;
    return cipher->random(cipher->context, e->salt, sizeof e->salt, fault);
}

static enum rag_status make_buffers(struct rag_encryption *e, struct rag_fault *fault) {
    e->payload = payload_of(e->header.stride);
    e->last = malloc(e->payload);
    e->out = malloc((size_t)BATCH * e->header.stride);
    return e->last && e->out ? RAG_OK : rag_fail(fault, RAG_MEMORY, 0, "no memory");
}

enum rag_status rag_encryption_create(rag_handle file, const struct rag_cipher *cipher,
                                      const struct rag_crypt_header *slots,
                                      struct rag_encryption **out, struct rag_fault *fault) {
    uint8_t page[RAG_CRYPT_PAGE];
    enum rag_status status = encryption_new(file, cipher, out, fault);
    struct rag_encryption *e = *out;
    if (status != RAG_OK) return status;
    e->header = *slots;
    e->header.sequence = 1;
    if (e->header.stride == 0) e->header.stride = RAG_CRYPT_STRIDE;
    status = cipher->random(cipher->context, e->header.id, sizeof e->header.id, fault);
    if (status == RAG_OK) status = make_buffers(e, fault);
    rag_crypt_page_write(&e->header, page);
    for (uint64_t at = 0; status == RAG_OK && at < RAG_CRYPT_HEADER; at += RAG_CRYPT_PAGE)
        status = rag_write_at(file, at, page, sizeof page, fault);
    return status;
}

enum rag_status rag_encryption_edit(rag_handle file, const struct rag_cipher *cipher,
                                    struct rag_encryption **out, struct rag_fault *fault) {
    struct rag_map map;
    enum rag_status status = encryption_new(file, cipher, out, fault);
    struct rag_encryption *e = *out;
    if (status == RAG_OK) status = rag_handle_map(file, &map, fault);
    if (status != RAG_OK) return status;
    status = rag_crypt_header_read(map.bytes, map.size, &e->header, fault);
    if (status == RAG_OK) {
        const uint64_t payload = payload_of(e->header.stride);
        e->count = (rag_crypt_plain_size(&e->header, map.size) + payload - 1) / payload;
        status = make_buffers(e, fault);
    }
    rag_map_close(&map);
    return status == RAG_OK ? cipher->unlock(cipher->context, &e->header, fault) : status;
}

void rag_encryption_close(struct rag_encryption *e) {
    if (!e) return;
    free(e->last);
    free(e->out);
    free(e);
}

uint64_t rag_encryption_outer(const struct rag_encryption *e, uint64_t at) {
    return outer_of(e->header.stride, at / e->payload);
}

uint32_t rag_encryption_payload(const struct rag_encryption *e) { return e->payload; }

const struct rag_crypt_header *rag_encryption_header(const struct rag_encryption *e) {
    return &e->header;
}

const struct rag_cipher *rag_encryption_cipher(const struct rag_encryption *e) {
    return &e->cipher;
}

/* --------------------------------------------------------------------------------------- blocks */

/* Encrypts up to BATCH blocks, each of `payload` bytes but the last, and writes them. */
static enum rag_status put_blocks(struct rag_encryption *e, uint64_t first, const uint8_t *bytes,
                                  size_t size, struct rag_fault *fault) {
    struct rag_crypt_block blocks[BATCH];
    uint8_t aads[BATCH][AAD_SIZE], nonces[BATCH * RAG_CRYPT_NONCE];
    const size_t count = (size + e->payload - 1) / e->payload, stride = e->header.stride;
    const size_t end = size - (count - 1) * e->payload; /* of the last block */
    enum rag_status status =
        e->cipher.random(e->cipher.context, nonces, count * RAG_CRYPT_NONCE, fault);
    for (size_t i = 0; i < count; i++) {
        uint8_t *block = e->out + i * stride;
        const size_t length = i + 1 < count ? e->payload : end;
        memcpy(block + BLOCK_SALT, e->salt, RAG_CRYPT_SALT);
        memcpy(block + BLOCK_NONCE, nonces + i * RAG_CRYPT_NONCE, RAG_CRYPT_NONCE);
        store_u32(block + BLOCK_LENGTH, (uint32_t)length);
        rag_crypt_aad(aads[i], e->header.id, first + i, (uint32_t)length);
        blocks[i] = (struct rag_crypt_block){.salt = block + BLOCK_SALT,
                                             .nonce = block + BLOCK_NONCE,
                                             .aad = aads[i],
                                             .aad_size = AAD_SIZE,
                                             .in = bytes + i * e->payload,
                                             .size = length,
                                             .out = block + BLOCK_TEXT};
    }
    if (status == RAG_OK) status = e->cipher.encrypt(e->cipher.context, blocks, count, fault);
    if (status == RAG_OK)
        status = rag_write_at(e->file, outer_of(e->header.stride, first), e->out,
                              (count - 1) * stride + end + BLOCK_EXTRA, fault);
    if (status == RAG_OK && first + count > e->count) e->count = first + count;
    return status;
}

/* Brings the bytes of a block that was written before into `last`. */
static enum rag_status load_last(struct rag_encryption *e, uint64_t index,
                                 struct rag_fault *fault) {
    const struct rag_piece piece = {.at = index * e->payload, .size = e->payload, .lenient = true};
    struct rag_map outer;
    struct rag_plain *plain = NULL;
    if (e->last_size && e->last_index == index) return RAG_OK;
    memset(e->last, 0, e->payload);
    e->last_index = index;
    e->last_size = 0;
    if (index >= e->count) return RAG_OK;
    enum rag_status status = rag_encryption_plain(e, &outer, &plain, fault);
    if (status != RAG_OK) return status;
    const struct rag_source *source = rag_plain_source(plain);
    const uint64_t rest = rag_plain_size(plain) - piece.at;
    status = source->fetch(source->context, &piece, 1, false, fault);
    if (status == RAG_OK) {
        e->last_size = rest < e->payload ? (uint32_t)rest : e->payload;
        memcpy(e->last, source->bytes + piece.at, e->last_size);
    }
    rag_plain_close(plain);
    rag_map_close(&outer);
    return status;
}

static enum rag_status put_part(struct rag_encryption *e, uint64_t index, size_t in,
                                const uint8_t *bytes, size_t size, struct rag_fault *fault) {
    const enum rag_status status = load_last(e, index, fault);
    if (status != RAG_OK) return status;
    memcpy(e->last + in, bytes, size);
    if (in + size > e->last_size) e->last_size = (uint32_t)(in + size);
    return put_blocks(e, index, e->last, e->last_size, fault);
}

enum rag_status rag_encryption_write(struct rag_encryption *e, uint64_t at, const void *bytes,
                                     size_t size, struct rag_fault *fault) {
    const uint8_t *from = bytes;
    enum rag_status status = RAG_OK;
    while (status == RAG_OK && size > 0) {
        const uint64_t index = at / e->payload;
        const size_t in = (size_t)(at % e->payload), most = (size_t)BATCH * e->payload;
        size_t take = size < e->payload - in ? size : e->payload - in;
        if (take == e->payload) {
            take = size < most ? size / e->payload * e->payload : most;
            if (index <= e->last_index && e->last_index < index + BATCH) e->last_size = 0;
            status = put_blocks(e, index, from, take, fault);
        } else {
            status = put_part(e, index, in, from, take, fault);
        }
        from += take, at += take, size -= take;
    }
    return status;
}

/* ----------------------------------------------------------------------------------------- maps */

static enum rag_status stay_unlocked(void *context, const struct rag_crypt_header *header,
                                     struct rag_fault *fault) {
    (void)context, (void)header, (void)fault;
    return RAG_OK;
}

enum rag_status rag_encryption_plain(struct rag_encryption *e, struct rag_map *outer,
                                     struct rag_plain **plain, struct rag_fault *fault) {
    struct rag_cipher cipher = e->cipher;
    cipher.unlock = stay_unlocked;
    enum rag_status status = rag_handle_map(e->file, outer, fault);
    if (status != RAG_OK) return status;
    status = rag_plain_open_whole(outer->bytes, outer->size, &cipher, plain, fault);
    if (status != RAG_OK) rag_map_close(outer);
    return status;
}

enum rag_status rag_encryption_map(struct rag_encryption *e, uint64_t from, uint64_t to,
                                   struct rag_map *map, struct rag_fault *fault) {
    const struct rag_piece piece = {.at = from, .size = to - from, .lenient = true};
    struct rag_map outer;
    struct rag_plain *plain = NULL;
    enum rag_status status = rag_encryption_plain(e, &outer, &plain, fault);
    if (status != RAG_OK) return status;
    const struct rag_source *source = rag_plain_source(plain);
    status = source->fetch(source->context, &piece, 1, false, fault);
    if (status == RAG_OK) *map = rag_plain_take(plain);
    rag_plain_close(plain);
    rag_map_close(&outer);
    return status;
}
