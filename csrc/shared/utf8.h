/* utf8.h - UTF-8, one character at a time: the only decoder and the only encoder of the core.
 *
 * Well-formed means the same as in Unicode: no overlong forms, no surrogates, nothing above
 * U+10FFFF. The caller decides how to treat ill-formed text; utf8_next reports it, and moves past
 * the longest run that begins a character and does not go on, as browsers do. */
#ifndef RAG_UTF8_H
#define RAG_UTF8_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { UTF8_BROKEN = 0x110000 }; /* one above the last code point */

static inline bool utf8_tail(uint8_t byte) { return (byte & 0xC0) == 0x80; }

/* Past the longest run at `at` that begins a character; at least one byte. The second byte is where
 * overlong forms (E0, F0), surrogates (ED) and code points above the last one (F4) end. */
static inline const uint8_t *utf8_skip(const uint8_t *at, const uint8_t *end) {
    const uint8_t lead = *at++;
    const size_t more = lead < 0xC2 || lead > 0xF4 ? 0 : lead < 0xE0 ? 1 : lead < 0xF0 ? 2 : 3;
    const uint8_t low = lead == 0xE0 ? 0xA0 : lead == 0xF0 ? 0x90 : 0x80;
    const uint8_t high = lead == 0xED ? 0x9F : lead == 0xF4 ? 0x8F : 0xBF;
    if (more == 0 || at == end || *at < low || *at > high) return at;
    at++;
    for (size_t i = 1; i < more && at < end && utf8_tail(*at); i++) at++;
    return at;
}

/* The character at *text, which is before end, or UTF8_BROKEN. Moves *text past it. */
static inline uint32_t utf8_next(const uint8_t **text, const uint8_t *end) {
    const uint8_t *at = *text;
    const size_t left = (size_t)(end - at);
    const uint32_t lead = at[0];
    if (lead < 0x80) return *text = at + 1, lead;
    if (lead < 0xE0) {
        if (lead >= 0xC2 && left > 1 && utf8_tail(at[1]))
            return *text = at + 2, (lead & 0x1F) << 6 | (at[1] & 0x3Fu);
    } else if (lead < 0xF0) {
        if (left > 2 && utf8_tail(at[1]) && utf8_tail(at[2])) {
            const uint32_t c = (lead & 0x0F) << 12 | (at[1] & 0x3Fu) << 6 | (at[2] & 0x3Fu);
            if (c >= 0x800 && (c < 0xD800 || c > 0xDFFF)) return *text = at + 3, c;
        }
    } else if (left > 3 && utf8_tail(at[1]) && utf8_tail(at[2]) && utf8_tail(at[3])) {
        const uint32_t c =
            (lead & 0x0F) << 18 | (at[1] & 0x3Fu) << 12 | (at[2] & 0x3Fu) << 6 | (at[3] & 0x3Fu);
        if (c >= 0x10000 && c <= 0x10FFFF) return *text = at + 4, c;
    }
    *text = utf8_skip(at, end);
    return UTF8_BROKEN;
}

/* Writes a code point to out, which has room for 4 bytes; how many it took. */
static inline size_t utf8_put(uint32_t c, uint8_t *out) {
    if (c < 0x80) return out[0] = (uint8_t)c, 1;
    const size_t more = c < 0x800 ? 1 : c < 0x10000 ? 2 : 3;
    out[0] = (uint8_t)(0xFF00u >> (more + 1) | c >> 6 * more); /* C0, E0 or F0 */
    for (size_t i = 1; i <= more; i++) out[i] = (uint8_t)(0x80 | (c >> 6 * (more - i) & 0x3F));
    return more + 1;
}

#endif
