/* encrypted.c - writes encrypted files in random ranges, and reads changed ones, with a toy cipher.
 *
 *    encrypted FOLDER ROUNDS
 *
 * Each round writes a file in random ranges, some of them twice, and compares what it holds with a
 * buffer that took the same writes. Then bytes of the file are changed, or it is cut: reading must
 * end, inside the file, with the bytes of each block or zeros. Sanitizers watch. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "ragfile.h"
#include "encryption/encrypted_file.h"
#include "encryption/layout.h"
#include "shared/bytes.h"
#include "shared/fail.h"
#include "system/files.h"

#define MUST(condition)    \
    ((condition) ? (void)0 \
                 : (fprintf(stderr, "%s:%d: %s\n", __FILE__, __LINE__, #condition), abort()))
enum { MOST = 60000 };

static uint64_t state = 1;
static uint32_t drawn(uint32_t below) {
    state = state * 6364136223846793005u + 1442695040888963407u;
    return (uint32_t)(state >> 33) % below;
}

/* The text is turned by the nonce; the tag is a hash of everything. */
static void tag_of(const struct rag_crypt_block *b, const uint8_t *plain, uint8_t *tag) {
    uint64_t sums[4] = {rag_hash(b->salt, RAG_CRYPT_SALT), rag_hash(b->nonce, RAG_CRYPT_NONCE),
                        rag_hash(b->aad, b->aad_size), rag_hash(plain, b->size)};
    store_u64(tag, rag_hash(sums, sizeof sums));
    store_u64(tag + 8, rag_hash(sums, 24));
}

static enum rag_status encrypt(void *context, struct rag_crypt_block *blocks, size_t count,
                               struct rag_fault *fault) {
    (void)context, (void)fault;
    for (size_t i = 0; i < count; i++) {
        const struct rag_crypt_block *b = &blocks[i];
        for (size_t at = 0; at < b->size; at++) b->out[at] = b->in[at] ^ b->nonce[at % 12];
        tag_of(b, b->in, b->out + b->size);
    }
    return RAG_OK;
}

static enum rag_status decrypt(void *context, struct rag_crypt_block *blocks, size_t count,
                               struct rag_fault *fault) {
    (void)context, (void)fault;
    for (size_t i = 0; i < count; i++) {
        struct rag_crypt_block *b = &blocks[i];
        uint8_t tag[RAG_CRYPT_TAG], *plain = malloc(b->size);
        for (size_t at = 0; at < b->size; at++) plain[at] = b->in[at] ^ b->nonce[at % 12];
        tag_of(b, plain, tag);
        b->is_good = memcmp(tag, b->in + b->size, sizeof tag) == 0;
        if (b->is_good) memcpy(b->out, plain, b->size);
        free(plain);
    }
    return RAG_OK;
}

static enum rag_status unlock(void *context, const struct rag_crypt_header *header,
                              struct rag_fault *fault) {
    if (header->count == 1 && header->slots[0].wrapped[0] == *(const uint8_t *)context)
        return RAG_OK;
    return rag_fail(fault, RAG_KEY, 0, "another key");
}

static enum rag_status fill(void *context, void *out, size_t size, struct rag_fault *fault) {
    (void)context, (void)fault;
    for (size_t i = 0; i < size; i++) ((uint8_t *)out)[i] = (uint8_t)drawn(256);
    return RAG_OK;
}

static uint8_t key = 7;
static const struct rag_cipher cipher = {unlock, encrypt, decrypt, fill, &key};

/* Writes ranges that leave no hole; returns the size. */
static size_t write_file(const char *path, uint8_t *wanted) {
    struct rag_crypt_header header = {.count = 1};
    struct rag_file *file;
    const size_t size = 1 + drawn(MOST - 1);
    size_t end = 0;
    header.slots[0].wrapped[0] = key;
    header.stride = drawn(2) ? 0 : 8192;
    MUST(rag_file_create(path, &file, NULL) == RAG_OK);
    MUST(rag_file_encrypt(file, &cipher, &header, NULL) == RAG_OK);
    while (end < size) {
        const size_t at = drawn(3) ? end : drawn((uint32_t)end + 1);
        size_t take = 1 + drawn(drawn(2) ? 100 : 20000);
        if (take > size - at) take = size - at;
        for (size_t i = 0; i < take; i++) wanted[at + i] = (uint8_t)drawn(256);
        MUST(rag_file_write(file, at, wanted + at, take, NULL) == RAG_OK);
        if (drawn(4) == 0) MUST(rag_file_sync(file, NULL) == RAG_OK);
        if (at + take > end) end = at + take;
    }
    MUST(rag_file_truncate(file, 1, NULL) == RAG_ARGUMENT);
    MUST(rag_file_publish(file, false, NULL) == RAG_OK);
    rag_file_discard(file);
    return size;
}

/* Reads what bytes hold: each block is as wanted, or zero and counted. */
static void read_bytes(const uint8_t *bytes, uint64_t size, const uint8_t *wanted, size_t most,
                       uint64_t allowed) {
    struct rag_plain *plain;
    struct rag_fault fault;
    uint64_t bad, first;
    if (rag_plain_open(bytes, size, NULL, &cipher, &plain, &fault) != RAG_OK) {
        MUST(fault.what);
        return;
    }
    const struct rag_source *source = rag_plain_source(plain);
    const uint64_t inner = rag_plain_size(plain);
    MUST(rag_plain_check(plain, &bad, &first, NULL) == RAG_OK && bad <= allowed);
    for (uint64_t i = 0; i < inner && i < most; i++)
        MUST(source->bytes[i] == wanted[i] || (bad && source->bytes[i] == 0));
    const struct rag_piece beyond = {.at = inner + drawn(9), .size = (uint64_t)1 << 61};
    MUST(source->fetch(source->context, &beyond, 1, false, NULL) == RAG_OK);
    rag_plain_close(plain);
}

static void change(uint8_t *bytes, uint64_t *size) {
    const uint32_t kind = drawn(4);
    if (kind == 0) *size = drawn((uint32_t)*size + 1);
    else if (kind == 1) bytes[drawn((uint32_t)*size)] ^= (uint8_t)(1 + drawn(255));
    else if (*size > RAG_CRYPT_HEADER + 48) /* a length */
        store_u32(bytes + RAG_CRYPT_HEADER + BLOCK_LENGTH, drawn(2) ? drawn(9000) : ~drawn(9));
    for (uint32_t i = 0; kind == 3 && i < 2; i++) { /* a page that is whole, and false */
        uint8_t *page = bytes + i * RAG_CRYPT_PAGE;
        if (*size < RAG_CRYPT_HEADER) return;
        page[8 + drawn(200)] ^= (uint8_t)drawn(256);
        store_u64(page + PAGE_HASH, rag_hash(page, PAGE_HASH));
    }
}

static void round_of(const char *path) {
    static uint8_t wanted[MOST];
    struct rag_map map;
    memset(wanted, 0, sizeof wanted);
    const size_t size = write_file(path, wanted);
    MUST(rag_map_open(path, &map, NULL) == RAG_OK);
    MUST(rag_is_encrypted(map.bytes, map.size));
    read_bytes(map.bytes, map.size, wanted, size, 0);
    for (int i = 0; i < 20; i++) {
        uint64_t cut = map.size;
        uint8_t *bytes = malloc(map.size); /* so that a read beyond it is seen */
        memcpy(bytes, map.bytes, map.size);
        change(bytes, &cut);
        uint8_t *exact = malloc(cut + !cut);
        memcpy(exact, bytes, cut);
        read_bytes(exact, cut, wanted, 0, UINT64_MAX);
        free(exact);
        free(bytes);
    }
    rag_map_close(&map);
}

/* Slots change under the lock, from the header that holds. */
static void change_slots(const char *path) {
    struct rag_crypt_header header;
    struct rag_map map;
    MUST(rag_map_open(path, &map, NULL) == RAG_OK);
    MUST(rag_crypt_header_read(map.bytes, map.size, &header, NULL) == RAG_OK);
    struct rag_crypt_header stale = header;
    MUST(rag_crypt_slots_write(path, NULL, &header, NULL) == RAG_OK);
    MUST(rag_crypt_slots_write(path, NULL, &stale, NULL) == RAG_ARGUMENT);
    MUST(rag_crypt_slots_write("no/such/file", NULL, &header, NULL) == RAG_OS);
    rag_map_close(&map);
}

int main(int count, char **arguments) {
    char path[4096];
    struct rag_writer *writer;
    MUST(count == 3 && rag_init(NULL) == RAG_OK);
    snprintf(path, sizeof path, "%s/encrypted", arguments[1]);
    const int rounds = atoi(arguments[2]);
    for (int i = 0; i < rounds; i++) round_of(path);
    change_slots(path);
    struct rag_fault fault;
    MUST(rag_writer_edit(path, NULL, NULL, &writer, &fault) == RAG_KEY);
    key = 8;
    MUST(rag_writer_edit(path, NULL, &cipher, &writer, &fault) == RAG_KEY);
    printf("%d rounds\n", rounds);
    return 0;
}
