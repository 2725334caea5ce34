/* libzstd.h - the functions of libzstd that the core calls.
 *
 * zstd.c is compiled behind it, by -include, and with -fwhole-program: GCC then leaves out what
 * none of them reaches before it optimises, which halves the time. Other compilers ignore both, and
 * the linker drops the rest. A function that is missing here is an undefined symbol there. */
#ifndef RAG_LIBZSTD_H
#define RAG_LIBZSTD_H

#include <zstd.h>
#include <zstd_errors.h>

#define RAG_USED(name) extern __typeof__(name) name __attribute__((externally_visible))

RAG_USED(ZSTD_CCtx_setParameter);
RAG_USED(ZSTD_compress2);
RAG_USED(ZSTD_compressBound);
RAG_USED(ZSTD_createCCtx);
RAG_USED(ZSTD_createDCtx);
RAG_USED(ZSTD_decompressDCtx);
RAG_USED(ZSTD_findFrameCompressedSize);
RAG_USED(ZSTD_freeCCtx);
RAG_USED(ZSTD_freeDCtx);
RAG_USED(ZSTD_getErrorCode);
RAG_USED(ZSTD_getFrameContentSize);
RAG_USED(ZSTD_isError);

#endif
