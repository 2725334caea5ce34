/* encrypted.c - the layout of an encrypted file, for JavaScript, which has the cipher. */
#include <string.h>

#include "ragfile/encryption.h"
#include "doors/wasm/wasm.h"
#include "parity/trailer.h"
#include "shared/bytes.h"

static struct rag_crypt_header header;

/* Read the header from the first RAG_CRYPT_HEADER bytes. answer: stride, key slots, the address of
 * the id, and that of the slots: salt, nonce and wrapped key, one after the other. */
EXPORT(encrypted_header) int encrypted_header(const uint8_t *bytes, size_t size) {
    const enum rag_status status = rag_crypt_header_read(bytes, size, &header, &fault);
    if (status != RAG_OK) return (int)status;
    double *answer = door_answer();
    answer[0] = header.stride, answer[1] = header.count;
    answer[2] = (double)(uintptr_t)header.id, answer[3] = (double)(uintptr_t)header.slots;
    return RAG_OK;
}

/* answer: the size of the file without its parity, given its last 64 bytes, and that of the file
 * inside. */
EXPORT(encrypted_size) int encrypted_size(const uint8_t *ending, double size) {
    const uint64_t blocks = rag_trailer_start(ending, (uint64_t)size, header.stride);
    double *answer = door_answer();
    answer[0] = (double)blocks, answer[1] = (double)rag_crypt_plain_size(&header, blocks);
    return RAG_OK;
}
