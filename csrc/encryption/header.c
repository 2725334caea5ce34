/* header.c - the header of an encrypted file: its geometry and its key slots.
 *
 * Both pages have the same fields; of two whole ones, that with the higher sequence holds. */
#include <string.h>

#include "ragfile/machine.h"
#include "encryption/layout.h"
#include "shared/bytes.h"
#include "shared/fail.h"

bool rag_is_encrypted(const uint8_t *bytes, uint64_t size) {
    return size >= 8 && memcmp(bytes, CRYPT_MAGIC, 8) == 0;
}

void rag_crypt_page_write(const struct rag_crypt_header *header, uint8_t *page) {
    memset(page, 0, RAG_CRYPT_PAGE);
    memcpy(page, CRYPT_MAGIC, 8);
    store_u32(page + PAGE_VERSION, CRYPT_VERSION);
    store_u32(page + PAGE_CIPHER, CRYPT_AES_GCM);
    store_u32(page + PAGE_STRIDE, header->stride);
    store_u32(page + PAGE_COUNT, header->count);
    store_u64(page + PAGE_SEQUENCE, header->sequence);
    memcpy(page + PAGE_ID, header->id, RAG_CRYPT_ID);
    for (uint32_t i = 0; i < header->count; i++) {
        uint8_t *slot = page + PAGE_SLOTS + (size_t)i * SLOT_SIZE;
        store_u32(slot + SLOT_KIND, CRYPT_KEY_SLOT);
        memcpy(slot + SLOT_SALT, header->slots[i].salt, RAG_CRYPT_SALT);
        memcpy(slot + SLOT_NONCE, header->slots[i].nonce, RAG_CRYPT_NONCE);
        memcpy(slot + SLOT_WRAPPED, header->slots[i].wrapped, sizeof header->slots[i].wrapped);
    }
    store_u64(page + PAGE_HASH, rag_hash(page, PAGE_HASH));
}

bool rag_crypt_page_is_whole(const uint8_t *page, uint64_t size) {
    return size >= RAG_CRYPT_PAGE && rag_is_encrypted(page, size) &&
           load_u64(page + PAGE_HASH) == rag_hash(page, PAGE_HASH);
}

bool rag_is_encrypted_in_part(const uint8_t *bytes, uint64_t size) {
    return rag_is_encrypted(bytes, size) ||
           (size >= RAG_CRYPT_HEADER &&
            rag_crypt_page_is_whole(bytes + RAG_CRYPT_PAGE, RAG_CRYPT_PAGE));
}

static bool is_zero(const uint8_t *bytes, size_t size) {
    while (size > 0 && *bytes == 0) bytes++, size--;
    return size == 0;
}

static enum rag_status read_slots(const uint8_t *page, uint64_t at, struct rag_crypt_header *header,
                                  struct rag_fault *fault) {
    for (uint32_t i = 0; i < header->count; i++) {
        const uint64_t place = PAGE_SLOTS + (uint64_t)i * SLOT_SIZE;
        const uint8_t *slot = page + place;
        if (load_u32(slot + SLOT_KIND) != CRYPT_KEY_SLOT)
            return rag_fail(fault, RAG_VERSION, at + place, "a key slot of an unknown kind");
        if (!is_zero(slot + SLOT_ZERO, 4) || !is_zero(slot + SLOT_END, SLOT_SIZE - SLOT_END))
            return rag_fail(fault, RAG_FORMAT, at + place, "reserved bytes are not zero");
        memcpy(header->slots[i].salt, slot + SLOT_SALT, RAG_CRYPT_SALT);
        memcpy(header->slots[i].nonce, slot + SLOT_NONCE, RAG_CRYPT_NONCE);
        memcpy(header->slots[i].wrapped, slot + SLOT_WRAPPED, sizeof header->slots[i].wrapped);
    }
    const size_t end = PAGE_SLOTS + (size_t)header->count * SLOT_SIZE;
    return is_zero(page + end, PAGE_HASH - end)
               ? RAG_OK
               : rag_fail(fault, RAG_FORMAT, at + end, "reserved bytes are not zero");
}

/* Reads a page whose hash is right. */
static enum rag_status read_page(const uint8_t *page, uint64_t at, struct rag_crypt_header *header,
                                 struct rag_fault *fault) {
    header->stride = load_u32(page + PAGE_STRIDE);
    header->count = load_u32(page + PAGE_COUNT);
    header->sequence = load_u64(page + PAGE_SEQUENCE);
    memcpy(header->id, page + PAGE_ID, RAG_CRYPT_ID);
    if (load_u32(page + PAGE_VERSION) != CRYPT_VERSION ||
        load_u32(page + PAGE_CIPHER) != CRYPT_AES_GCM)
        return rag_fail(fault, RAG_VERSION, at + PAGE_VERSION,
                        "encrypted by a newer version or with another cipher");
    const uint32_t stride = header->stride;
    if (stride < STRIDE_LEAST || stride > STRIDE_MOST || (stride & (stride - 1)) != 0)
        return rag_fail(fault, RAG_FORMAT, at + PAGE_STRIDE, "the size of a block is out of range");
    if (header->count == 0 || header->count > RAG_CRYPT_SLOTS)
        return rag_fail(fault, RAG_FORMAT, at + PAGE_COUNT, "the number of keys is out of range");
    if (!is_zero(page + PAGE_ID + RAG_CRYPT_ID, PAGE_SLOTS - PAGE_ID - RAG_CRYPT_ID))
        return rag_fail(fault, RAG_FORMAT, at + PAGE_ID, "reserved bytes are not zero");
    return read_slots(page, at, header, fault);
}

static bool is_whole(const uint8_t *page) { return rag_crypt_page_is_whole(page, RAG_CRYPT_PAGE); }

enum rag_status rag_crypt_header_read(const uint8_t *bytes, uint64_t size,
                                      struct rag_crypt_header *header, struct rag_fault *fault) {
    const uint8_t *first = bytes, *second = bytes + RAG_CRYPT_PAGE;
    if (!rag_is_encrypted(bytes, size))
        return rag_fail(fault, RAG_NOT_RAGFILE, 0, "the first eight bytes are not RAGCRYPT");
    if (size < RAG_CRYPT_HEADER)
        return rag_fail(fault, RAG_CORRUPT, size, "an encrypted file ends inside its header");
    const bool one = is_whole(first), two = is_whole(second);
    if (!one && !two)
        return rag_fail(fault, RAG_CORRUPT, PAGE_HASH,
                        "the header of an encrypted file is damaged");
    if (one && (!two || load_u64(first + PAGE_SEQUENCE) >= load_u64(second + PAGE_SEQUENCE)))
        return read_page(first, 0, header, fault);
    return read_page(second, RAG_CRYPT_PAGE, header, fault);
}

uint64_t rag_crypt_plain_size(const struct rag_crypt_header *header, uint64_t size) {
    const uint64_t body = size < RAG_CRYPT_HEADER ? 0 : size - RAG_CRYPT_HEADER;
    const uint64_t rest = body % header->stride;
    return body / header->stride * payload_of(header->stride) +
           (rest > BLOCK_EXTRA ? rest - BLOCK_EXTRA : 0);
}
