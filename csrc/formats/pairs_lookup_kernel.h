/* pairs_lookup_kernel.h - the loop of pairs_lookup.c, included once per target with SUFFIX, TARGET
 * and EQUAL (64 bytes against one, as a bit mask) defined. */
#define PASTE_(a, b) a##_##b
#define PASTE(a, b) PASTE_(a, b)

/* Scan up to count blocks; stop after the first with hits or a fault. */
TARGET static void PASTE(scan_blocks, SUFFIX)(struct scan *scan, const uint8_t *bytes,
                                              uint64_t count) {
    struct scan s = *scan; /* in registers */
    s.hits = 0;
    s.bad = false;
    for (const uint8_t *end = bytes + 64 * count; bytes != end; bytes += 64) {
        __builtin_prefetch(bytes + AHEAD);
        uint64_t z = EQUAL(bytes, 0);
        if ((z | s.z | s.open) == 0) { /* inside a content, with arbitrary bytes */
            s.at += 64;
            continue;
        }
        bool told = scan_block(&s, (struct masks){z, EQUAL(bytes, '-'), EQUAL(bytes, s.last)});
        s.at += 64;
        if (told) break;
    }
    *scan = s;
}

#undef PASTE
#undef PASTE_
#undef SUFFIX
#undef TARGET
#undef EQUAL
