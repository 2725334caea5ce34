/* markdown.c - find the dividing lines of a markdown text: headings of level two, and fences.
 *
 * A fence is a line that starts with three or more backticks (or tildes) and lasts until a line of
 * at least as many of them and nothing else; a line in between is never a heading. This covers the
 * part of CommonMark that a .ragmd file needs, with one restriction: a dividing line starts in its
 * first column. Inside a fence the search skips from one fence character to the next, so forty
 * megabytes of base64 cost one memchr. */
#include <string.h>

#include "ragfile/formats.h"

static size_t line_end(const uint8_t *text, size_t size, size_t at) {
    const uint8_t *feed = at < size ? memchr(text + at, '\n', size - at) : NULL;
    return feed ? (size_t)(feed - text) : size;
}

static size_t run_length(const uint8_t *text, size_t end, size_t at) {
    size_t run = 0;
    while (at + run < end && text[at + run] == text[at]) run++;
    return run;
}

static bool blank_to(const uint8_t *text, size_t at, size_t end) {
    while (at < end && (text[at] == ' ' || text[at] == '\t' || text[at] == '\r')) at++;
    return at == end;
}

static bool mark(struct rag_marks *marks, enum rag_mark kind, size_t at, size_t end, size_t size) {
    marks->kind = kind;
    marks->at = at;
    marks->end = end;
    marks->next = end < size ? end + 1 : size;
    return true;
}

static bool next_close(const uint8_t *text, size_t size, struct rag_marks *marks) {
    size_t at = marks->next;
    while (at < size) {
        const uint8_t *found = memchr(text + at, marks->fence, size - at);
        if (!found) break;
        at = (size_t)(found - text);
        const size_t run = run_length(text, size, at);
        if (text[at - 1] == '\n' && run >= marks->length) {
            const size_t end = line_end(text, size, at);
            if (blank_to(text, at + run, end)) {
                marks->length = 0;
                return mark(marks, RAG_MARK_CLOSE, at, end, size);
            }
        }
        at += run;
    }
    return false;
}

/* A backtick fence has no further backtick on its line: `like this` is text. */
static bool opens_fence(const uint8_t *text, size_t at, size_t end, struct rag_marks *marks) {
    if (at >= end || (text[at] != '`' && text[at] != '~')) return false;
    const size_t run = run_length(text, end, at);
    if (run < 3 || (text[at] == '`' && memchr(text + at + run, '`', end - at - run))) return false;
    marks->fence = text[at];
    marks->length = run;
    return true;
}

bool rag_marks_next(const uint8_t *text, size_t size, struct rag_marks *marks) {
    if (marks->length) return next_close(text, size, marks);
    for (size_t at = marks->next; at < size;) {
        const size_t end = line_end(text, size, at);
        if (end - at >= 3 && memcmp(text + at, "## ", 3) == 0)
            return mark(marks, RAG_MARK_HEADING, at, end, size);
        if (opens_fence(text, at, end, marks)) return mark(marks, RAG_MARK_OPEN, at, end, size);
        at = end + 1;
    }
    return false;
}

/* Return the closing quote of the string that opens at `at`, or size if it is unterminated. A quote
 * after an odd run of backslashes is escaped. A run cannot extend back over the previous quote, so
 * counting from there equals counting from the string's start. */
static size_t string_end(const uint8_t *text, size_t size, size_t at) {
    while (at + 1 < size) {
        const uint8_t *quote = memchr(text + at + 1, '"', size - at - 1);
        if (!quote) break;
        const size_t start = at;
        size_t slashes = 0;
        at = (size_t)(quote - text);
        while (at - slashes > start + 1 && quote[-1 - (ptrdiff_t)slashes] == '\\') slashes++;
        if (slashes % 2 == 0) return at;
    }
    return size;
}

/* Measure the nesting before a parser with unknown stack limits reads the JSON. Quotes, brackets
 * and backslashes are ASCII and part of no other UTF-8 character, so a byte scan is enough. */
size_t rag_json_depth(const uint8_t *text, size_t size, size_t limit, size_t *at) {
    size_t depth = 0, deepest = 0;
    for (size_t i = 0; i < size; i++) {
        if (text[i] == '"') {
            i = string_end(text, size, i);
        } else if (text[i] == '[' || text[i] == '{') {
            if (++depth > deepest && (deepest = depth) > limit) {
                *at = i;
                return deepest;
            }
        } else if ((text[i] == ']' || text[i] == '}') && depth) {
            depth--;
        }
    }
    return deepest;
}
