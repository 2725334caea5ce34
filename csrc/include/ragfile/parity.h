/* parity.h - repairing a damaged file from its parity sections. */
#ifndef RAGFILE_PARITY_H
#define RAGFILE_PARITY_H

#include "ragfile/status.h"

/* A repair of a damaged file. One thread. open searches the bytes for parity sections and fails
 * with RAG_CORRUPT if it finds none. */
struct rag_repair;
enum rag_status rag_repair_open(const uint8_t *bytes, uint64_t size, struct rag_repair **repair,
                                struct rag_fault *fault);

/* The size of the repaired file, and the number of parity sections that are used. */
uint64_t rag_repair_size(const struct rag_repair *repair);
uint32_t rag_repair_sections(const struct rag_repair *repair);

/* Repairs `bytes`: a writable copy of the file, extended with zeros to rag_repair_size. Reports
 * each range that was changed or remains damaged. With `check`, parity that looks intact is
 * compared with the data that it protects, too. */
struct rag_damage {
    uint64_t at, size;
    bool lost; /* could not be repaired */
};
enum rag_status rag_repair_run(struct rag_repair *repair, uint8_t *bytes, bool check,
                               void (*report)(void *context, const struct rag_damage *damage),
                               void *context, struct rag_fault *fault);
void rag_repair_close(struct rag_repair *repair);

#endif
