/* bytes.h - loads and stores in either byte order, alignment, checked sums.
 *
 * A file's bytes are never overlaid with a struct: each field is read with one of these, at any
 * alignment. */
#ifndef RAG_BYTES_H
#define RAG_BYTES_H

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#if !defined(__BYTE_ORDER__) || __BYTE_ORDER__ != __ORDER_LITTLE_ENDIAN__
#error "ragfile's core needs a little-endian host; big-endian files are read on it, not the reverse"
#endif

static inline uint16_t load_u16(const void *at) {
    uint16_t v;
    memcpy(&v, at, sizeof v);
    return v;
}
static inline uint32_t load_u32(const void *at) {
    uint32_t v;
    memcpy(&v, at, sizeof v);
    return v;
}
static inline uint64_t load_u64(const void *at) {
    uint64_t v;
    memcpy(&v, at, sizeof v);
    return v;
}
static inline float load_f32(const void *at) {
    float v;
    memcpy(&v, at, sizeof v);
    return v;
}
static inline double load_f64(const void *at) {
    double v;
    memcpy(&v, at, sizeof v);
    return v;
}

static inline void store_u16(void *at, uint16_t v) { memcpy(at, &v, sizeof v); }
static inline void store_u32(void *at, uint32_t v) { memcpy(at, &v, sizeof v); }
static inline void store_u64(void *at, uint64_t v) { memcpy(at, &v, sizeof v); }
static inline void store_f32(void *at, float v) { memcpy(at, &v, sizeof v); }
static inline void store_f64(void *at, double v) { memcpy(at, &v, sizeof v); }

/* The same in the byte order that a 0.1.0 file declares. */
static inline uint16_t load_u16_in(bool big, const void *at) {
    uint16_t v = load_u16(at);
    return big ? __builtin_bswap16(v) : v;
}
static inline uint32_t load_u32_in(bool big, const void *at) {
    uint32_t v = load_u32(at);
    return big ? __builtin_bswap32(v) : v;
}
static inline uint64_t load_u64_in(bool big, const void *at) {
    uint64_t v = load_u64(at);
    return big ? __builtin_bswap64(v) : v;
}
static inline void store_u16_in(bool big, void *at, uint16_t v) {
    store_u16(at, big ? __builtin_bswap16(v) : v);
}
static inline void store_u32_in(bool big, void *at, uint32_t v) {
    store_u32(at, big ? __builtin_bswap32(v) : v);
}
static inline void store_u64_in(bool big, void *at, uint64_t v) {
    store_u64(at, big ? __builtin_bswap64(v) : v);
}

/* Checked sums and products of untrusted numbers: true on overflow. */
static inline bool add_overflows(uint64_t a, uint64_t b, uint64_t *sum) {
    return __builtin_add_overflow(a, b, sum);
}
static inline bool mul_overflows(uint64_t a, uint64_t b, uint64_t *product) {
    return __builtin_mul_overflow(a, b, product);
}

/* Rounds up to a multiple of a power of two. The caller ensures that it fits. */
static inline uint64_t align_up(uint64_t value, uint64_t to) {
    return (value + to - 1) & ~(to - 1);
}

#endif
