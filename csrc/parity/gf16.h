/* gf16.h - the field of 65,536 elements, on which parity is computed (spec/parts/parity.md).
 *
 * An element is a u16: a polynomial over two elements, bit i for x^i, modulo x^16 + x^12 + x^3 + x
 * + 1. A sum is an exclusive or. */
#ifndef RAG_GF16_H
#define RAG_GF16_H

#include <stddef.h>
#include <stdint.h>

uint16_t rag_gf_product(uint16_t a, uint16_t b);
uint16_t rag_gf_inverse(uint16_t a); /* of 0: 0 */

/* to ^= from, and to ^= factor * from, over little-endian words. size is a multiple of 64. The
 * two ranges are identical or disjoint. */
void rag_gf_add(uint8_t *to, const uint8_t *from, size_t size);
void rag_gf_add_product(uint8_t *to, const uint8_t *from, uint16_t factor, size_t size);

#endif
