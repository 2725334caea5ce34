/* parity_fuzz.c - scan and repair damaged and forged parity, under sanitizers.
 *
 *    parity_fuzz ROUNDS SEED FILE...
 *
 * Each round takes a file and changes it: bytes, stretches, its length, and numbers in the heads of
 * shards, with their hashes recomputed so that the forgery passes them. Requirements: no access
 * outside the bytes (allocated to the byte), at most twice the file's size in memory, and a repair
 * that reports only stretches inside the file. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "ragfile.h"
#include "shared/bytes.h"
#include "container/format.h"
#include "parity/shard.h"

#define MUST(condition)    \
    ((condition) ? (void)0 \
                 : (fprintf(stderr, "%s:%d: %s\n", __FILE__, __LINE__, #condition), abort()))

static uint64_t state;
static uint64_t chance(uint64_t below) {
    state ^= state << 13, state ^= state >> 7, state ^= state << 17;
    return below ? (state >> 8) % below : 0;
}

struct content {
    uint8_t *bytes;
    size_t size;
};

static struct content read_file(const char *path) {
    FILE *file = fopen(path, "rb");
    MUST(file && fseek(file, 0, SEEK_END) == 0);
    struct content c = {.size = (size_t)ftell(file)};
    c.bytes = malloc(c.size + 1);
    rewind(file);
    MUST(c.bytes && fread(c.bytes, 1, c.size, file) == c.size);
    fclose(file);
    return c;
}

static uint64_t tempting(uint64_t old, uint64_t size) {
    const uint64_t values[] = {0,          1,         2,          63,         64,
                               4096,       65536,     old + 1,    old - 1,    old * 2,
                               size,       size - 64, UINT32_MAX, UINT64_MAX, (uint64_t)1 << 60,
                               old + 4096, old ^ 64,  1024,       32768,      chance(UINT64_MAX)};
    return values[chance(sizeof values / sizeof values[0])];
}

/* Forge a field of one head, or of all heads. */
static void lie(struct content *c) {
    const uint64_t field = 8 + 4 * chance(26);
    const bool wide = field < 72 || field >= 104, all = chance(2);
    uint64_t value = 0, chosen = chance(24);
    bool picked = false;
    for (size_t at = FRONT_SIZE; at + SHARD_HEAD_SIZE <= c->size; at += SECTION_ALIGN) {
        uint8_t *head = c->bytes + at;
        if (memcmp(head, SHARD_MAGIC, 8) != 0 && memcmp(head, TRAILER_MAGIC, 8) != 0) continue;
        if (!all && chosen-- != 0) continue;
        const uint64_t old = wide ? load_u64(head + field) : load_u32(head + field);
        if (!picked) value = tempting(old, c->size);
        picked = true;
        if (wide) store_u64(head + field, value);
        else store_u32(head + field, (uint32_t)value);
        if (field != SHARD_HASH) store_u64(head + SHARD_HASH, rag_hash(head, SHARD_HASH));
        if (!all) return;
    }
}

static void damage(struct content *c) {
    const uint64_t at = chance(c->size), most = c->size - at;
    const uint64_t size = chance(3) ? 1 + chance(most < 70000 ? most : 70000) : 1;
    const uint8_t with = (uint8_t)chance(256);
    const bool zero = chance(2);
    for (uint64_t i = at; i < at + size && i < c->size; i++)
        c->bytes[i] = zero ? 0 : (uint8_t)(c->bytes[i] ^ with ^ i);
}

static void change(struct content *c) {
    for (uint64_t i = chance(4); i < 4; i++)
        if (chance(2)) lie(c);
        else damage(c);
    if (chance(8) == 0) c->size = chance(c->size + 1);
}

struct seen {
    uint64_t size, restored, lost;
};

static void note(void *context, const struct rag_damage *damage) {
    struct seen *seen = context;
    MUST(damage->size > 0 && damage->at <= seen->size && damage->size <= seen->size - damage->at);
    if (damage->lost) seen->lost++;
    else seen->restored++;
}

static bool repair(const struct content *c, struct seen *seen) {
    struct rag_repair *repair = NULL;
    struct rag_fault fault;
    enum rag_status status = rag_repair_open(c->bytes, c->size, &repair, &fault);
    if (status != RAG_OK) {
        MUST(status < RAG_STATUS_COUNT && fault.what && strlen(fault.section) <= 64);
        return false;
    }
    seen->size = rag_repair_size(repair);
    MUST(seen->size >= c->size && seen->size <= 3 * c->size + RAG_BLOCK);
    uint8_t *room = calloc(1, seen->size);
    MUST(room);
    memcpy(room, c->bytes, c->size);
    status = rag_repair_run(repair, room, chance(2), note, seen, &fault);
    MUST(status == RAG_OK);
    rag_repair_close(repair);
    free(room);
    return true;
}

int main(int count, char **arguments) {
    uint64_t done = 0, restored = 0, lost = 0;
    MUST(count > 3 && rag_init(NULL) == RAG_OK);
    state = strtoull(arguments[2], NULL, 10) * 0x9E3779B97F4A7C15 + 1;
    for (uint64_t round = strtoull(arguments[1], NULL, 10); round > 0; round--) {
        struct content file = read_file(arguments[3 + chance((uint64_t)count - 3)]), c = file;
        struct seen seen = {0};
        change(&c);
        c.bytes = malloc(c.size + (c.size == 0)); /* sized to the byte */
        memcpy(c.bytes, file.bytes, c.size);
        done += repair(&c, &seen);
        restored += seen.restored, lost += seen.lost;
        free(file.bytes);
        free(c.bytes);
    }
    printf("%llu repairs, %llu stretches restored, %llu lost\n", (unsigned long long)done,
           (unsigned long long)restored, (unsigned long long)lost);
    return 0;
}
