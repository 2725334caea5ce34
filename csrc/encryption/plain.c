/* plain.c - the plain bytes of an encrypted file: private memory that is filled as it is read.
 *
 * The memory has the size of the inner file and takes no room before it is used. Each block has a
 * state. Two threads may decrypt a block at once: both write the same bytes, before either says
 * that the block is there. A block that is not right stays zero; checksums and hashes of the inner
 * file, which are encrypted too, then refuse whatever was to be there. */
#include <stdlib.h>
#include <string.h>

#include "encryption/layout.h"
#include "parity/trailer.h"
#include "shared/bytes.h"
#include "shared/fail.h"
#include "system/system.h"

enum { UNKNOWN, GOOD, BAD };

struct rag_plain {
    const uint8_t *outer;
    uint64_t outer_size, size, count;
    uint64_t stored_size; /* of the file, with its trailer */
    const struct rag_source *beneath;
    struct rag_cipher cipher;
    struct rag_crypt_header header;
    uint32_t payload;
    bool has_trailer; /* the trailer at the end counts as blocks, which read as zeros */
    struct rag_map memory;
    uint8_t *state;
    struct rag_source source;
};

void rag_crypt_aad(uint8_t *aad, const uint8_t *id, uint64_t index, uint32_t length) {
    memcpy(aad, id, RAG_CRYPT_ID);
    store_u64(aad + RAG_CRYPT_ID, index);
    store_u32(aad + RAG_CRYPT_ID + 8, length);
}

/* The room of a block in the file: less than a stride at the file's end. */
static uint64_t room_of(const struct rag_plain *p, uint64_t index) {
    const uint64_t rest = p->outer_size - outer_of(p->header.stride, index);
    return rest < p->header.stride ? rest : p->header.stride;
}

static uint8_t state_of(const struct rag_plain *p, uint64_t index) {
    return __atomic_load_n(&p->state[index], __ATOMIC_ACQUIRE);
}

static void set_state(const struct rag_plain *p, uint64_t index, uint8_t state) {
    __atomic_store_n(&p->state[index], state, __ATOMIC_RELEASE);
}

struct batch {
    struct rag_crypt_block blocks[BATCH];
    uint64_t indices[BATCH];
    uint8_t aads[BATCH][AAD_SIZE];
    size_t count;
};

static enum rag_status decrypt(const struct rag_plain *p, struct batch *batch,
                               struct rag_fault *fault) {
    if (batch->count == 0) return RAG_OK;
    const enum rag_status status =
        p->cipher.decrypt(p->cipher.context, batch->blocks, batch->count, fault);
    for (size_t i = 0; status == RAG_OK && i < batch->count; i++)
        set_state(p, batch->indices[i], batch->blocks[i].is_good ? GOOD : BAD);
    batch->count = 0;
    return status;
}

static enum rag_status add(const struct rag_plain *p, struct batch *batch, uint64_t index,
                           struct rag_fault *fault) {
    const uint8_t *block = p->outer + outer_of(p->header.stride, index);
    const uint64_t room = room_of(p, index);
    const uint32_t length = room > BLOCK_EXTRA ? load_u32(block + BLOCK_LENGTH) : 0;
    if (length == 0 || length > room - BLOCK_EXTRA) {
        set_state(p, index, BAD);
        return RAG_OK;
    }
    const size_t i = batch->count++;
    batch->indices[i] = index;
    rag_crypt_aad(batch->aads[i], p->header.id, index, length);
    batch->blocks[i] =
        (struct rag_crypt_block){.salt = block + BLOCK_SALT,
                                 .nonce = block + BLOCK_NONCE,
                                 .aad = batch->aads[i],
                                 .aad_size = AAD_SIZE,
                                 .in = block + BLOCK_TEXT,
                                 .size = length,
                                 .out = (uint8_t *)(uintptr_t)p->memory.bytes + index * p->payload};
    return batch->count == BATCH ? decrypt(p, batch, fault) : RAG_OK;
}

/* The first block of a piece, and the block after its last. */
static void blocks_of(const struct rag_plain *p, const struct rag_piece *piece, uint64_t *from,
                      uint64_t *to) {
    const uint64_t end = piece->size > p->size || piece->at > p->size - piece->size
                             ? p->size
                             : piece->at + piece->size;
    *from = piece->at / p->payload;
    *to = piece->at >= end ? *from : (end - 1) / p->payload + 1;
}

/* Has the outer source bring the blocks that are not there yet. */
static enum rag_status bring(const struct rag_plain *p, const struct rag_piece *pieces,
                             size_t count, bool cached, struct rag_fault *fault) {
    if (!p->beneath) return RAG_OK;
    struct rag_piece *outer = calloc(count ? count : 1, sizeof *outer);
    size_t used = 0;
    if (!outer) return rag_fail(fault, RAG_MEMORY, 0, "no memory");
    for (size_t i = 0; i < count; i++) {
        uint64_t from, to;
        blocks_of(p, &pieces[i], &from, &to);
        while (from < to && state_of(p, from) != UNKNOWN) from++;
        while (from < to && state_of(p, to - 1) != UNKNOWN) to--;
        if (from == to) continue;
        const uint64_t at = outer_of(p->header.stride, from),
                       end = outer_of(p->header.stride, to - 1) + room_of(p, to - 1);
        outer[used++] = (struct rag_piece){.at = at, .size = end - at, .lenient = true};
    }
    const enum rag_status status =
        used ? p->beneath->fetch(p->beneath->context, outer, used, cached, fault) : RAG_OK;
    free(outer);
    return status;
}

/* Blocks of a section that are not right are an error; those of a search for commits are not. */
static enum rag_status check_piece(const struct rag_plain *p, const struct rag_piece *piece,
                                   struct rag_fault *fault) {
    uint64_t from, to;
    blocks_of(p, piece, &from, &to);
    for (; from < to && !piece->lenient; from++)
        if (state_of(p, from) == BAD)
            return rag_fail(fault, RAG_CORRUPT, outer_of(p->header.stride, from),
                            "an encrypted block was changed, moved or cut");
    return RAG_OK;
}

static enum rag_status fetch(void *context, const struct rag_piece *pieces, size_t count,
                             bool cached, struct rag_fault *fault) {
    const struct rag_plain *p = context;
    struct batch batch = {.count = 0};
    if (cached) return RAG_OK;
    enum rag_status status = bring(p, pieces, count, cached, fault);
    for (size_t i = 0; status == RAG_OK && i < count; i++) {
        uint64_t from, to;
        blocks_of(p, &pieces[i], &from, &to);
        for (; status == RAG_OK && from < to; from++)
            if (state_of(p, from) == UNKNOWN) status = add(p, &batch, from, fault);
    }
    if (status == RAG_OK) status = decrypt(p, &batch, fault);
    for (size_t i = 0; status == RAG_OK && i < count; i++)
        status = check_piece(p, &pieces[i], fault);
    return status;
}

/* Reads the header and, where a trailer's mark would be, the end of the file. */
static enum rag_status read_header(struct rag_plain *p, struct rag_fault *fault) {
    const uint64_t size = p->outer_size < RAG_CRYPT_HEADER ? p->outer_size : RAG_CRYPT_HEADER,
                   rest = p->outer_size < MARK_SIZE ? p->outer_size : MARK_SIZE;
    const struct rag_piece ends[2] = {{.at = 0, .size = size, .lenient = true},
                                      {.at = p->outer_size - rest, .size = rest, .lenient = true}};
    enum rag_status status = RAG_OK;
    if (p->beneath) status = p->beneath->fetch(p->beneath->context, ends, 2, false, fault);
    if (status == RAG_OK)
        status = rag_crypt_header_read(p->outer, p->outer_size, &p->header, fault);
    return status == RAG_OK ? p->cipher.unlock(p->cipher.context, &p->header, fault) : status;
}

static enum rag_status make_memory(struct rag_plain *p, struct rag_fault *fault) {
    p->payload = payload_of(p->header.stride);
    if (!p->has_trailer)
        p->outer_size = rag_trailer_start(p->outer + p->outer_size - MARK_SIZE, p->outer_size,
                                          p->header.stride);
    p->size = rag_crypt_plain_size(&p->header, p->outer_size);
    p->count = (p->size + p->payload - 1) / p->payload;
    /* whole blocks, so that each can be decrypted into its place */
    enum rag_status status = rag_map_memory(p->count * p->payload, &p->memory, fault);
    p->state = calloc(p->count + 1, 1);
    if (status == RAG_OK && !p->state) status = rag_fail(fault, RAG_MEMORY, 0, "no memory");
    p->source = (struct rag_source){
        .bytes = p->memory.bytes, .fetch = fetch, .context = p, .is_near = !p->beneath};
    return status;
}

static enum rag_status open_plain(const uint8_t *outer, uint64_t size, bool has_trailer,
                                  const struct rag_source *beneath, const struct rag_cipher *cipher,
                                  struct rag_plain **out, struct rag_fault *fault) {
    struct rag_plain *p = calloc(1, sizeof *p);
    if (!p) return rag_fail(fault, RAG_MEMORY, 0, "no memory");
    p->outer = outer;
    p->outer_size = p->stored_size = size;
    p->has_trailer = has_trailer;
    p->beneath = beneath;
    p->cipher = *cipher;
    enum rag_status status = read_header(p, fault);
    if (status == RAG_OK) status = make_memory(p, fault);
    if (status == RAG_OK) *out = p;
    else rag_plain_close(p);
    return status;
}

enum rag_status rag_plain_open(const uint8_t *outer, uint64_t size,
                               const struct rag_source *beneath, const struct rag_cipher *cipher,
                               struct rag_plain **out, struct rag_fault *fault) {
    return open_plain(outer, size, false, beneath, cipher, out, fault);
}

enum rag_status rag_plain_open_whole(const uint8_t *outer, uint64_t size,
                                     const struct rag_cipher *cipher, struct rag_plain **out,
                                     struct rag_fault *fault) {
    return open_plain(outer, size, true, NULL, cipher, out, fault);
}

const struct rag_source *rag_plain_source(const struct rag_plain *plain) { return &plain->source; }

struct rag_map rag_plain_take(struct rag_plain *p) {
    const struct rag_map taken = p->memory;
    p->memory = (struct rag_map){0};
    return taken;
}

uint64_t rag_plain_size(const struct rag_plain *plain) { return plain->size; }

bool rag_plain_has_parity(const struct rag_plain *plain) {
    return plain->stored_size > plain->outer_size;
}

uint64_t rag_plain_trailer_end(const struct rag_plain *plain, uint64_t blocks) {
    return blocks == plain->outer_size && rag_plain_has_parity(plain) ? plain->stored_size : 0;
}

uint64_t rag_plain_outer_size(const struct rag_plain *p, uint64_t end) {
    const uint64_t rest = end % p->payload;
    return outer_of(p->header.stride, end / p->payload) + (rest ? rest + BLOCK_EXTRA : 0);
}

void rag_plain_close(struct rag_plain *p) {
    if (!p) return;
    rag_map_close(&p->memory);
    free(p->state);
    free(p);
}

enum rag_status rag_plain_check(struct rag_plain *p, uint64_t *bad, uint64_t *first,
                                struct rag_fault *fault) {
    const struct rag_piece all = {.at = 0, .size = p->size, .lenient = true};
    const enum rag_status status = fetch(p, &all, 1, false, fault);
    *bad = *first = 0;
    for (uint64_t i = 0; status == RAG_OK && i < p->count; i++)
        if (state_of(p, i) == BAD && (*bad)++ == 0) *first = outer_of(p->header.stride, i);
    return status;
}
