/* writer.h - writing a file: new files, appended commits, and compaction. */
#ifndef RAGFILE_WRITER_H
#define RAGFILE_WRITER_H

#include "ragfile/encryption.h"
#include "ragfile/files.h"

struct rag_reader;

/* A writer of one commit. One thread. After a call failed, only discard may be called. No
 * failure changes earlier commits. */
struct rag_writer;

/* Starts a new file: written under a temporary name next to path, renamed to it at commit. */
enum rag_status rag_writer_create(const char *path, struct rag_writer **writer,
                                  struct rag_fault *fault);

/* The same for an encrypted file, with the key slots of a header. The cipher has the data key. */
enum rag_status rag_writer_create_encrypted(const char *path, const struct rag_cipher *cipher,
                                            const struct rag_crypt_header *slots,
                                            struct rag_writer **writer, struct rag_fault *fault);

/* Starts the next commit of an existing file. Takes the writer's lock, as rag_file_edit does,
 * and opens the newest commit. The cipher unlocks an encrypted file; it may be NULL. */
enum rag_status rag_writer_edit(const char *path, const struct rag_wait *wait,
                                const struct rag_cipher *cipher, struct rag_writer **writer,
                                struct rag_fault *fault);

/* Transfer ownership of the reader of that commit and of its map. Close the reader first. An
 * encrypted file's map has the outer bytes, and *plain, which must be closed before the map, the
 * inner ones; a plain file has none. */
struct rag_reader *rag_writer_take_reader(struct rag_writer *writer);
struct rag_map rag_writer_take_map(struct rag_writer *writer, struct rag_plain **plain);

/* Starts a compacted copy, which replaces the file that `editor` has locked. */
enum rag_status rag_writer_replace(struct rag_writer *editor, struct rag_writer **writer,
                                   struct rag_fault *fault);

/* Allocates a segment number. */
enum rag_status rag_writer_segment(struct rag_writer *writer, uint32_t *number,
                                   struct rag_fault *fault);

/* Set a segment's number of rows and of live rows; or remove a segment with its sections. */
enum rag_status rag_writer_rows(struct rag_writer *writer, uint32_t segment, uint64_t rows,
                                uint64_t live, struct rag_fault *fault);
void rag_writer_forget(struct rag_writer *writer, uint32_t segment);

/* Write a section: begin, any number of writes, end. *at becomes its offset in the file.
 * Replaces an older section of the same name and segment. */
enum rag_status rag_section_begin(struct rag_writer *writer, const char *name, uint32_t segment,
                                  uint32_t flags, uint64_t *at, struct rag_fault *fault);
enum rag_status rag_section_write(struct rag_writer *writer, const void *bytes, size_t size,
                                  struct rag_fault *fault);
enum rag_status rag_section_end(struct rag_writer *writer, uint64_t items, struct rag_fault *fault);

/* The offset at which the next section begins. */
uint64_t rag_writer_size(const struct rag_writer *writer);

/* Drops a section from the next commit. RAG_ARGUMENT if there is none. */
enum rag_status rag_section_drop(struct rag_writer *writer, const char *name, uint32_t segment,
                                 struct rag_fault *fault);

/* Writes the list (rag.sections) of the sections of a segment that this commit wrote last, one
 * after the other: tables then have one entry for them. RAG_ARGUMENT if there are none. */
enum rag_status rag_writer_list(struct rag_writer *writer, uint32_t segment,
                                struct rag_fault *fault);

/* Sets the size of small blocks whose checksums are computed for the sections that follow; 0
 * turns this off. small_blocks writes the checksums so far as the segment's rag.fine. */
void rag_writer_grain(struct rag_writer *writer, uint32_t grain);
enum rag_status rag_writer_small_blocks(struct rag_writer *writer, uint32_t segment,
                                        struct rag_fault *fault);

/* Adds parity to the commit, `percent` (1 to 100) of its size, or none for 0
 * (spec/parts/parity.md). Bytes that older parity sections protect are left to these, unless
 * `anew`. A small commit after a protected one gets a step: less parity, against less damage. */
void rag_writer_parity(struct rag_writer *writer, unsigned percent, bool anew);

/* Makes the commit durable and visible, all or nothing. Afterwards only discard may be called. */
enum rag_status rag_writer_commit(struct rag_writer *writer, uint64_t created, const char *message,
                                  size_t message_size, struct rag_fault *fault);
void rag_writer_discard(struct rag_writer *writer);

#endif
