/* encryption.h - encrypted files: a header with wrapped keys, and blocks that hold an ordinary
 * file.
 *
 * The caller has the cipher: this library knows no cryptography. It lays the header and the blocks
 * out (spec/parts/encryption.md), and shows what they hold as a source that decrypts on demand. */
#ifndef RAGFILE_ENCRYPTION_H
#define RAGFILE_ENCRYPTION_H

#include "ragfile/files.h"
#include "ragfile/section.h"

enum {
    RAG_CRYPT_PAGE = 4096,   /* of a header's page */
    RAG_CRYPT_HEADER = 8192, /* two pages, of which one is enough */
    RAG_CRYPT_STRIDE = 4096, /* bytes from block to block in new files */
    RAG_CRYPT_SLOTS = 30,    /* of a header, at most */
    RAG_CRYPT_ID = 16,
    RAG_CRYPT_SALT = 32,
    RAG_CRYPT_NONCE = 12,
    RAG_CRYPT_TAG = 16,
    RAG_CRYPT_WRAPPED = 48, /* a key of 32 bytes, and a tag */
};

/* The data key, encrypted by a key that is made of a user's key and the salt. */
struct rag_key_slot {
    uint8_t salt[RAG_CRYPT_SALT];
    uint8_t nonce[RAG_CRYPT_NONCE];
    uint8_t wrapped[RAG_CRYPT_WRAPPED];
};

struct rag_crypt_header {
    uint32_t stride;
    uint32_t count;
    uint64_t sequence; /* of the page: the highest one holds */
    uint8_t id[RAG_CRYPT_ID];
    struct rag_key_slot slots[RAG_CRYPT_SLOTS];
};

/* One call of the cipher: AES-256-GCM under the key of a salt. `in` and `out` have the tag at the
 * end of the encrypted side. After decrypting, `is_good` tells whether the tag is right. */
struct rag_crypt_block {
    const uint8_t *salt;
    const uint8_t *nonce;
    const uint8_t *aad;
    const uint8_t *in;
    size_t aad_size;
    size_t size; /* of the plain text */
    uint8_t *out;
    bool is_good;
};

/* The caller's cipher; each call returns RAG_OK, or the status to stop with. unlock finds the data
 * key of a file: it gets the header, and is called before the other two, while the file is held. */
struct rag_cipher {
    enum rag_status (*unlock)(void *context, const struct rag_crypt_header *header,
                              struct rag_fault *fault);
    enum rag_status (*encrypt)(void *context, struct rag_crypt_block *blocks, size_t count,
                               struct rag_fault *fault);
    enum rag_status (*decrypt)(void *context, struct rag_crypt_block *blocks, size_t count,
                               struct rag_fault *fault);
    enum rag_status (*random)(void *context, void *out, size_t size, struct rag_fault *fault);
    void *context;
};

/* Whether bytes begin as an encrypted file does, whatever its state. */
bool rag_is_encrypted(const uint8_t *bytes, uint64_t size);

/* The same if the first page of the header may be damaged. */
bool rag_is_encrypted_in_part(const uint8_t *bytes, uint64_t size);

/* Whether a page of a header is as it was written. */
bool rag_crypt_page_is_whole(const uint8_t *page, uint64_t size);

/* Reads the header from the first RAG_CRYPT_HEADER bytes of a file. RAG_NOT_RAGFILE if it is not
 * an encrypted file, RAG_CORRUPT if neither page is whole. */
enum rag_status rag_crypt_header_read(const uint8_t *bytes, uint64_t size,
                                      struct rag_crypt_header *header, struct rag_fault *fault);

/* Writes one page of a header, RAG_CRYPT_PAGE bytes. */
void rag_crypt_page_write(const struct rag_crypt_header *header, uint8_t *page);

/* Replaces the slots of a file that nobody writes to, page by page, each made durable: a crash
 * leaves the old slots or the new ones. The file's writer's lock is taken. */
enum rag_status rag_crypt_slots_write(const char *path, const struct rag_wait *wait,
                                      struct rag_crypt_header *header, struct rag_fault *fault);

/* The bytes of the file inside an encrypted one of a size. */
uint64_t rag_crypt_plain_size(const struct rag_crypt_header *header, uint64_t size);

/* An encrypted file as a source of plain bytes: memory of their size that is filled as it is read,
 * block by block. It borrows the outer bytes, which must outlive it; they come from `beneath`
 * unless that is NULL. Blocks that are not right read as zeros where a reader looks for commits,
 * and are an error in sections. Any number of threads, whose calls of the cipher may overlap. */
struct rag_plain;

enum rag_status rag_plain_open(const uint8_t *outer, uint64_t size,
                               const struct rag_source *beneath, const struct rag_cipher *cipher,
                               struct rag_plain **plain, struct rag_fault *fault);
const struct rag_source *rag_plain_source(const struct rag_plain *plain);
uint64_t rag_plain_size(const struct rag_plain *plain);

/* Whether the file ends with a trailer: parity of its blocks. Its end, if the blocks before it end
 * at `blocks`, or 0. */
bool rag_plain_has_parity(const struct rag_plain *plain);
uint64_t rag_plain_trailer_end(const struct rag_plain *plain, uint64_t blocks);

/* The bytes that the encrypted file has if its inner file ends at `end`, the end of a commit. */
uint64_t rag_plain_outer_size(const struct rag_plain *plain, uint64_t end);
void rag_plain_close(struct rag_plain *plain);

/* Checks every block of a file: reports those that no key or the wrong place makes unreadable, by
 * their outer offsets. Returns their number. */
enum rag_status rag_plain_check(struct rag_plain *plain, uint64_t *bad, uint64_t *first,
                                struct rag_fault *fault);

#endif
