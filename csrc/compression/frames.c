/* frames.c - Zstandard frames, by libzstd.
 *
 * A decompressor takes longer to make than a small block takes to read, so idle ones are kept: each
 * slot holds one or none, and taking and returning one is an atomic exchange. At most IDLE_COUNT of
 * them, of about 100 KB each, outlive their calls, whatever the number of threads. A fork can at
 * worst lose those that other threads were using.
 *
 * Output goes straight to the caller's buffer. libzstd then needs no window, so that neither a
 * frame's window size nor its number of blocks asks for memory. */
#include <zstd.h>
#include <zstd_errors.h>

#include "ragfile/compression.h"
#include "shared/fail.h"

enum { IDLE_COUNT = 16 };
static ZSTD_DCtx *idle[IDLE_COUNT];

static ZSTD_DCtx *take_decompressor(void) {
    for (int i = 0; i < IDLE_COUNT; i++) {
        if (!__atomic_load_n(&idle[i], __ATOMIC_RELAXED)) continue;
        ZSTD_DCtx *found = __atomic_exchange_n(&idle[i], NULL, __ATOMIC_ACQUIRE);
        if (found) return found;
    }
    return ZSTD_createDCtx();
}

static void return_decompressor(ZSTD_DCtx *used) {
    for (int i = 0; i < IDLE_COUNT; i++) {
        ZSTD_DCtx *none = NULL;
        if (__atomic_compare_exchange_n(&idle[i], &none, used, false, __ATOMIC_RELEASE,
                                        __ATOMIC_RELAXED))
            return;
    }
    ZSTD_freeDCtx(used);
}

static enum rag_status why(size_t result, const char *what, struct rag_fault *fault) {
    if (ZSTD_getErrorCode(result) == ZSTD_error_memory_allocation)
        return rag_fail(fault, RAG_MEMORY, 0, "no memory for a compressed block");
    return rag_fail(fault, RAG_CORRUPT, 0, what);
}

enum rag_status rag_frame_decompress(const uint8_t *frame, size_t frame_size, uint8_t *raw,
                                     size_t raw_size, struct rag_fault *fault) {
    if (ZSTD_getFrameContentSize(frame, frame_size) != raw_size)
        return rag_fail(fault, RAG_CORRUPT, 0,
                        "a compressed block does not state its size, or states a wrong one");
    if (ZSTD_findFrameCompressedSize(frame, frame_size) != frame_size)
        return rag_fail(fault, RAG_CORRUPT, 0, "a compressed block is not exactly one frame");
    ZSTD_DCtx *context = take_decompressor();
    if (!context) return rag_fail(fault, RAG_MEMORY, 0, "no memory for a decompressor");
    const size_t made = ZSTD_decompressDCtx(context, raw, raw_size, frame, frame_size);
    return_decompressor(context);
    if (ZSTD_isError(made) || made != raw_size)
        return why(made, "a compressed block does not decompress", fault);
    return RAG_OK;
}

enum rag_status rag_compressor_open(int level, struct rag_compressor **compressor,
                                    struct rag_fault *fault) {
    *compressor = NULL;
    if (level != RAG_LEVEL_FAST && level != RAG_LEVEL_DENSE)
        return rag_fail(fault, RAG_ARGUMENT, (uint64_t)level, "a level other than 3 and 9");
    ZSTD_CCtx *made = ZSTD_createCCtx();
    if (!made) return rag_fail(fault, RAG_MEMORY, 0, "no memory for a compressor");
    ZSTD_CCtx_setParameter(made, ZSTD_c_compressionLevel, level);
    *compressor = (struct rag_compressor *)made;
    return RAG_OK;
}

void rag_compressor_close(struct rag_compressor *compressor) {
    ZSTD_freeCCtx((ZSTD_CCtx *)compressor);
}

size_t rag_frame_bound(size_t size) { return ZSTD_compressBound(size); }

enum rag_status rag_frame_compress(struct rag_compressor *compressor, const uint8_t *raw,
                                   size_t size, uint8_t *frame, size_t room, size_t *frame_size,
                                   struct rag_fault *fault) {
    *frame_size = ZSTD_compress2((ZSTD_CCtx *)compressor, frame, room, raw, size);
    if (!ZSTD_isError(*frame_size)) return RAG_OK;
    if (ZSTD_getErrorCode(*frame_size) == ZSTD_error_dstSize_tooSmall)
        return rag_fail(fault, RAG_ARGUMENT, room, "a buffer smaller than the largest frame");
    return why(*frame_size, "a block does not compress", fault);
}
