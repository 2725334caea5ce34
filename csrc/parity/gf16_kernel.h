/* gf16_kernel.h - products of a run of words by one factor, included once for each target.
 *
 * A product is a sum of four: one for each nibble of the word, each a look into a table of sixteen.
 * A shuffle looks up a register of bytes at once, so the low and the high bytes of words are taken
 * apart and put together again. The including file defines
 *
 *    NAME(x), KERNEL     the function's name and attributes
 *    VECTOR              the register
 *    LOAD, STORE, XOR, AND, LOOK(table, indices), SPREAD (sixteen bytes to every lane)
 *    NIBBLE(v)           bytes shifted right by four, whatever comes in from above
 *    EVEN, ODD           the low, the high bytes of two registers of words
 *    FIRST, SECOND       the two registers of words of low and high bytes */
KERNEL void NAME(add_product)(uint8_t *to, const uint8_t *from, const struct tables *tables,
                              size_t size) {
    VECTOR low[4], high[4];
    for (int i = 0; i < 4; i++) low[i] = SPREAD(tables->low[i]), high[i] = SPREAD(tables->high[i]);
    for (size_t at = 0; at < size; at += 2 * sizeof(VECTOR)) {
        const VECTOR a = LOAD(from + at), b = LOAD(from + at + sizeof(VECTOR));
        const VECTOR even = EVEN(a, b), odd = ODD(a, b);
        const VECTOR n0 = AND(even), n1 = AND(NIBBLE(even)), n2 = AND(odd), n3 = AND(NIBBLE(odd));
        const VECTOR l =
            XOR(XOR(LOOK(low[0], n0), LOOK(low[1], n1)), XOR(LOOK(low[2], n2), LOOK(low[3], n3)));
        const VECTOR h = XOR(XOR(LOOK(high[0], n0), LOOK(high[1], n1)),
                             XOR(LOOK(high[2], n2), LOOK(high[3], n3)));
        STORE(to + at, XOR(LOAD(to + at), FIRST(l, h)));
        STORE(to + at + sizeof(VECTOR), XOR(LOAD(to + at + sizeof(VECTOR)), SECOND(l, h)));
    }
}

#undef NAME
#undef KERNEL
#undef VECTOR
#undef LOAD
#undef STORE
#undef XOR
#undef AND
#undef LOOK
#undef SPREAD
#undef NIBBLE
#undef EVEN
#undef ODD
#undef FIRST
#undef SECOND
