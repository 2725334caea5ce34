/* columns_rows.c - row sets from codes: the rows in a range of codes, or with one of several codes;
 * and the values that contain another value.
 *
 * A block of ZONE_ROWS rows is skipped if its smallest and largest code decide the result.
 * Otherwise each code is compared; compilers vectorise the loop, and its bytes are packed into
 * bits. These functions cannot fail, and stay inside their arrays for any file. */
#include <string.h>

#include "ragfile/bits.h"
#include "columns/columns.h"
#include "shared/bytes.h"
#include "shared/abi_floor.h"
#include "system/cpu.h"

typedef void flags_of_block(const struct rag_column *c, uint64_t first, uint32_t count,
                            const void *by, uint8_t *flags);

struct range {
    uint32_t low, size;
};

/* code in [low, low + size), in one comparison of unsigned numbers */
static inline __attribute__((always_inline)) void compare_range(const struct rag_column *c,
                                                                uint64_t first, uint32_t count,
                                                                const void *by, uint8_t *flags) {
    const struct range *range = by;
    const uint32_t low = range->low, size = range->size;
    const uint8_t *codes = c->codes + first * c->width;
    if (c->width == 1 && size > 0 && low < 256) {
        const uint8_t low8 = (uint8_t)low, last = (uint8_t)(size > 256 ? 255 : size - 1);
        for (size_t i = 0; i < count; i++) flags[i] = (uint8_t)(codes[i] - low8) <= last;
    } else if (c->width == 2 && size > 0 && low < 65536) {
        const uint16_t low16 = (uint16_t)low, last = (uint16_t)(size > 65536 ? 65535 : size - 1);
        for (size_t i = 0; i < count; i++)
            flags[i] = (uint16_t)(load_u16(codes + 2 * i) - low16) <= last;
    } else if (c->width == 4) {
        for (size_t i = 0; i < count; i++) flags[i] = load_u32(codes + 4 * i) - low < size;
    } else memset(flags, 0, count);
}

static void range_baseline(const struct rag_column *c, uint64_t first, uint32_t count,
                           const void *by, uint8_t *flags) {
    compare_range(c, first, count, by, flags);
}

#if defined __x86_64__
__attribute__((target("avx2"))) static void range_avx2(const struct rag_column *c, uint64_t first,
                                                       uint32_t count, const void *by,
                                                       uint8_t *flags) {
    compare_range(c, first, count, by, flags);
}
#endif

static flags_of_block *flags_of_range(void) {
#if defined __x86_64__
    if (rag_cpu & RAG_CPU_AVX2) return range_avx2;
#endif
    return range_baseline;
}

struct choice {
    const uint8_t *chosen;
    uint32_t count;
};

static uint32_t code_at(const struct rag_column *c, uint64_t row) {
    if (c->width == 1) return c->codes[row];
    return c->width == 2 ? load_u16(c->codes + 2 * row) : load_u32(c->codes + 4 * row);
}

static void flags_of_choice(const struct rag_column *c, uint64_t first, uint32_t count,
                            const void *by, uint8_t *flags) {
    const struct choice *choice = by;
    for (uint32_t i = 0; i < count; i++) {
        const uint32_t code = code_at(c, first + i);
        flags[i] = code < choice->count && choice->chosen[code];
    }
}

/* decide judges a zone: 0 no row matches, 1 all rows match, -1 unknown. */
static void rows_of(const struct rag_column *c, int (*decide)(const void *by, uint32_t, uint32_t),
                    flags_of_block *flags_of, const void *by, uint64_t *words) {
    uint8_t flags[ZONE_ROWS];
    for (uint64_t first = 0; first < c->rows; first += ZONE_ROWS) {
        const uint64_t left = c->rows - first;
        const uint32_t count = left < ZONE_ROWS ? (uint32_t)left : ZONE_ROWS;
        const uint8_t *zone = c->zones + first / ZONE_ROWS * ZONE_SIZE;
        const int known = decide(by, load_u32(zone), load_u32(zone + 4));
        if (known >= 0) memset(flags, known, count);
        else flags_of(c, first, count, by, flags);
        rag_bits_pack(flags, count, words + first / 64);
    }
}

static int decide_range(const void *by, uint32_t smallest, uint32_t largest) {
    const struct range *range = by;
    const uint64_t end = (uint64_t)range->low + range->size;
    if (largest < range->low || smallest >= end) return 0;
    return smallest >= range->low && largest < end ? 1 : -1;
}

static int decide_choice(const void *by, uint32_t smallest, uint32_t largest) {
    const struct choice *choice = by;
    if (smallest != largest) return -1;
    return smallest < choice->count && choice->chosen[smallest];
}

void rag_column_rows(const struct rag_column *c, uint32_t low, uint32_t high, uint64_t *words) {
    if (high > c->values + 1) high = c->values + 1; /* which a code of this width can be */
    const struct range range = {low, high > low ? high - low : 0};
    rows_of(c, decide_range, flags_of_range(), &range, words);
}

void rag_column_rows_of(const struct rag_column *c, const uint8_t *chosen, uint32_t count,
                        uint64_t *words) {
    const struct choice choice = {chosen, count};
    rows_of(c, decide_choice, flags_of_choice, &choice, words);
}

/* ------------------------------------------------------------------- values that hold another */

static bool is_held(const uint8_t *list, size_t size, const uint8_t *value, size_t value_bytes) {
    const uint8_t *end = list + size, *at = list + 1;
    while (at < end && *at != VALUE_END) {
        const size_t step = rag_value_size(at, end);
        if (step == 0) return false;
        if (step == value_bytes && memcmp(at, value, step) == 0) return true;
        at += step;
    }
    return false;
}

void rag_column_holding(const struct rag_column *c, const uint8_t *value, size_t size,
                        uint8_t *chosen) {
    uint32_t low, high;
    rag_column_kind(c, 4, &low, &high);
    for (uint32_t i = 0; i < c->lists; i++) {
        size_t list_size;
        const uint8_t *list = rag_column_text(c, c->texts + i, &list_size);
        if (list_size > 1 && is_held(list, list_size, value, size)) chosen[low + i] = 1;
    }
}

static bool is_part(const uint8_t *text, size_t size, const uint8_t *part, size_t part_size) {
    if (part_size == 0) return true;
    for (const uint8_t *at = text; size >= part_size; at++) {
        const uint8_t *next = memchr(at, *part, size - part_size + 1);
        if (!next) return false;
        if (memcmp(next, part, part_size) == 0) return true;
        size -= (size_t)(next - at) + 1;
        at = next;
    }
    return false;
}

void rag_column_containing(const struct rag_column *c, const uint8_t *part, size_t size,
                           uint8_t *chosen) {
    uint32_t low, high;
    rag_column_kind(c, 3, &low, &high);
    for (uint32_t i = 0; i < c->texts; i++) {
        size_t text_size;
        const uint8_t *text = rag_column_text(c, i, &text_size);
        if (is_part(text, text_size, part, size)) chosen[low + i] = 1;
    }
}
