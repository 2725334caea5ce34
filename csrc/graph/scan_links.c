/* scan_links.c - the links of a Markdown text: [text](target), [text][label], [[name#part|text]],
 * ![[name]] and <a href="target">text</a>.
 *
 * One walk over the text, after one that collects the definitions `[label]: target`. Fenced code,
 * code spans, comments and images are passed over. Open brackets are on a stack that ends with the
 * paragraph. Whatever looks ahead does so for a bounded number of bytes, so time is linear. */
#include <stdlib.h>
#include <string.h>

#include "ragfile/graph.h"
#include "shared/array.h"
#include "shared/fail.h"

enum { TARGET_MAX = 2048, SPAN_MAX = 4096, LABEL_MAX = 1024, DEPTH = 64 };
enum { INLINE, WIKI, EMBED, REFERENCE };

struct definition {
    const uint8_t *label;
    size_t label_size, target, target_size;
};

struct bracket {
    size_t at;
    bool is_image;
};

struct scan {
    const uint8_t *text;
    size_t size, at;
    rag_link_sink *sink;
    void *context;
    struct bracket open[DEPTH];
    unsigned depth;
    uint8_t fence; /* the character of an open fence, or 0 */
    size_t fence_size;
    size_t no_comment_end; /* no comment that begins after this ends */
    struct definition *definitions;
    size_t count, room;
};

static uint8_t peek(const struct scan *scan, size_t at) {
    return at < scan->size ? scan->text[at] : 0;
}

static bool is_blank(uint8_t c) { return c == ' ' || c == '\t'; }
static bool is_space(uint8_t c) { return is_blank(c) || c == '\n' || c == '\r'; }

static size_t run_of(const struct scan *scan, size_t at, uint8_t c) {
    const size_t last = scan->size - at > SPAN_MAX ? at + SPAN_MAX : scan->size;
    size_t end = at;
    while (end < last && scan->text[end] == c) end++;
    return end - at;
}

static size_t after_blanks(const struct scan *scan, size_t at) {
    while (at < scan->size && is_blank(scan->text[at])) at++;
    return at;
}

static size_t line_end(const struct scan *scan, size_t at) {
    const uint8_t *end = at < scan->size ? memchr(scan->text + at, '\n', scan->size - at) : NULL;
    return end ? (size_t)(end - scan->text) : scan->size;
}

static uint8_t lower(uint8_t c) { return c >= 'A' && c <= 'Z' ? (uint8_t)(c + 32) : c; }

static bool begins(const struct scan *scan, size_t at, const char *word) {
    for (; *word; word++, at++)
        if (lower(peek(scan, at)) != (uint8_t)*word) return false;
    return true;
}

/* -------------------------------------------------------------------------------- targets, code */

/* The same for a reference of the site generator Hugo, {{< ref "page" >}}. */
static size_t read_shortcode(const struct scan *scan, size_t at, size_t *start, size_t *size) {
    const bool is_bracketed = peek(scan, at) == '<';
    const size_t last = scan->size - at > TARGET_MAX ? at + TARGET_MAX : scan->size;
    for (size_t i = *start = at + is_bracketed; i + 1 < last && scan->text[i] != '\n'; i++) {
        if (scan->text[i] != '}' || scan->text[i + 1] != '}') continue;
        *size = i + 2 - *start;
        if (!is_bracketed) return i + 2;
        return peek(scan, i + 2) == '>' ? i + 3 : 0;
    }
    return 0;
}

/* Sets the range of the target that begins at `at`, and returns where it ends, or 0. */
static size_t read_target(const struct scan *scan, size_t at, size_t *start, size_t *size) {
    const size_t last = scan->size - at > TARGET_MAX ? at + TARGET_MAX : scan->size;
    unsigned depth = 0;
    if (begins(scan, at, "{{") || begins(scan, at, "<{{"))
        return read_shortcode(scan, at, start, size);
    if (peek(scan, at) == '<') {
        for (size_t i = at + 1; i < last && scan->text[i] != '\n'; i++)
            if (scan->text[i] == '>') {
                *start = at + 1;
                *size = i - at - 1;
                return i + 1;
            }
        return 0;
    }
    size_t i = at;
    for (; i < last && scan->text[i] > ' '; i++) {
        if (scan->text[i] == '\\' && i + 1 < last) i++;
        else if (scan->text[i] == '(') depth++;
        else if (scan->text[i] == ')' && depth-- == 0) break;
    }
    *start = at;
    *size = i - at;
    return i;
}

/* Where a title in quotes that begins at `at` ends; `at` without one, 0 if it does not end. */
static size_t after_title(const struct scan *scan, size_t at) {
    const uint8_t first = peek(scan, at), close = first == '(' ? ')' : first;
    if (first != '"' && first != '\'' && first != '(') return at;
    const size_t last = scan->size - at > SPAN_MAX ? at + SPAN_MAX : scan->size;
    for (size_t i = at + 1; i < last; i++) {
        if (scan->text[i] == '\\') i++;
        else if (scan->text[i] == close) return i + 1;
    }
    return 0;
}

static size_t after_spaces(const struct scan *scan, size_t at) {
    while (at < scan->size && is_space(scan->text[at])) at++;
    return at;
}

/* Where the parentheses that begin at `at` end, or 0 if they hold no target. */
static size_t read_parentheses(const struct scan *scan, size_t at, size_t *start, size_t *size) {
    size_t end = read_target(scan, after_blanks(scan, at + 1), start, size);
    if (!end) return 0;
    const size_t next = after_spaces(scan, end);
    end = next > end ? after_title(scan, next) : next;
    if (!end) return 0;
    end = after_blanks(scan, end);
    return peek(scan, end) == ')' ? end + 1 : 0;
}

/* Where the code span that begins at `at` ends; after its backticks if it does not end. */
static size_t after_code(const struct scan *scan, size_t at) {
    const size_t ticks = run_of(scan, at, '`');
    const size_t last = scan->size - at > SPAN_MAX ? at + SPAN_MAX : scan->size;
    for (size_t i = at + ticks; i < last;) {
        if (scan->text[i] == '\n' && peek(scan, after_blanks(scan, i + 1)) == '\n') break;
        const size_t run = run_of(scan, i, '`');
        if (run == ticks) return i + run;
        i += run ? run : 1;
    }
    return at + ticks;
}

/* ---------------------------------------------------------------------------------- definitions */

/* Reads the definition on the line at `at`; false if it is none. */
static bool read_definition(const struct scan *scan, size_t at, struct definition *found) {
    const size_t first = after_blanks(scan, at);
    if (first - at > 3 || peek(scan, first) != '[' || peek(scan, first + 1) == '^') return false;
    size_t end = first + 1;
    while (end < scan->size && end - first < LABEL_MAX && scan->text[end] != ']' &&
           scan->text[end] != '[' && scan->text[end] != '\n')
        end++;
    if (end == first + 1 || peek(scan, end) != ']' || peek(scan, end + 1) != ':') return false;
    found->label = scan->text + first + 1;
    found->label_size = end - first - 1;
    return read_target(scan, after_blanks(scan, end + 2), &found->target, &found->target_size) &&
           found->target_size;
}

static int compare_labels(const void *one, const void *other) {
    const struct definition *a = one, *b = other;
    for (size_t i = 0; i < a->label_size && i < b->label_size; i++) {
        const int order = lower(a->label[i]) - lower(b->label[i]);
        if (order) return order;
    }
    return (a->label_size > b->label_size) - (a->label_size < b->label_size);
}

/* Of equal labels, the first counts. */
static int compare_definitions(const void *one, const void *other) {
    const struct definition *a = one, *b = other;
    const int order = compare_labels(a, b);
    return order ? order : (a->label > b->label) - (a->label < b->label);
}

static const struct definition *defined(const struct scan *scan, size_t at, size_t size) {
    const struct definition wanted = {scan->text + at, size, 0, 0};
    size_t low = 0, high = scan->count;
    while (low < high) {
        const size_t middle = low + (high - low) / 2;
        if (compare_labels(&scan->definitions[middle], &wanted) < 0) low = middle + 1;
        else high = middle;
    }
    const bool is_found =
        low < scan->count && compare_labels(&scan->definitions[low], &wanted) == 0;
    return is_found ? &scan->definitions[low] : NULL;
}

/* ---------------------------------------------------------------------------------------- lines */

/* Whether the line at `at` opens, closes or is inside fenced code. */
static bool is_fenced(struct scan *scan, size_t at) {
    const size_t first = after_blanks(scan, at), end = line_end(scan, first);
    const uint8_t c = peek(scan, first);
    const size_t run = c == '`' || c == '~' ? run_of(scan, first, c) : 0;
    if (scan->fence) {
        const bool is_end =
            c == scan->fence && run >= scan->fence_size && after_spaces(scan, first + run) >= end;
        if (is_end) scan->fence = 0;
        return true;
    }
    if (run < 3) return false;
    if (c == '`' && first + run < end && memchr(scan->text + first + run, '`', end - first - run))
        return false; /* a code span */
    scan->fence = c;
    scan->fence_size = run;
    return true;
}

static enum rag_status find_definitions(struct scan *scan, struct rag_fault *fault) {
    for (size_t at = 0; at < scan->size; at = line_end(scan, at) + 1) {
        struct definition found;
        if (is_fenced(scan, at) || !read_definition(scan, at, &found)) continue;
        if (!rag_grow(&scan->definitions, &scan->room, scan->count + 1, sizeof found))
            return rag_fail(fault, RAG_MEMORY, 0, "no memory for the definitions of links");
        scan->definitions[scan->count++] = found;
    }
    if (scan->count)
        qsort(scan->definitions, scan->count, sizeof *scan->definitions, compare_definitions);
    scan->fence = 0;
    return RAG_OK;
}

/* ---------------------------------------------------------------------------------------- links */

static void emit(struct scan *scan, uint32_t kind, size_t at, size_t end, size_t target,
                 size_t target_size, size_t text, size_t text_size) {
    const struct rag_link link = {kind, at, end - at, target, target_size, text, text_size};
    scan->sink(scan->context, &link);
    scan->at = end;
    scan->depth = 0; /* a link holds no link */
}

static void push(struct scan *scan, size_t at) {
    if (scan->depth == DEPTH) {
        memmove(scan->open, scan->open + DEPTH / 2, DEPTH / 2 * sizeof *scan->open);
        scan->depth = DEPTH / 2;
    }
    const bool is_image = at > 0 && scan->text[at - 1] == '!';
    scan->open[scan->depth++] = (struct bracket){at, is_image};
}

/* [[name]] at scan->at; false if it is none. */
static bool read_wikilink(struct scan *scan) {
    const size_t at = scan->at, first = at + 2;
    const size_t last = scan->size - at > LABEL_MAX ? at + LABEL_MAX : scan->size;
    size_t bar = 0, i = first;
    for (; i < last && scan->text[i] != '\n' && scan->text[i] != '['; i++) {
        if (scan->text[i] == ']') break;
        if (scan->text[i] == '|' && !bar) bar = i;
    }
    if (i == first || peek(scan, i) != ']' || peek(scan, i + 1) != ']') return false;
    size_t end = bar ? bar : i;
    if (bar && bar > first && scan->text[bar - 1] == '\\') end--; /* in a table */
    if (end == first) return false;
    const bool is_embed = at > 0 && scan->text[at - 1] == '!';
    emit(scan, is_embed ? EMBED : WIKI, at - is_embed, i + 2, first, end - first, bar ? bar + 1 : i,
         bar ? i - bar - 1 : 0);
    return true;
}

/* Where {{...}} that begins at `at` ends; `at` if none does. */
static size_t after_shortcode(const struct scan *scan, size_t at, size_t last) {
    if (at + 1 >= last || scan->text[at] != '{' || scan->text[at + 1] != '{') return at;
    for (size_t i = at + 2; i + 1 < last && scan->text[i] != '\n'; i++)
        if (scan->text[i] == '}' && scan->text[i + 1] == '}') return i + 2;
    return at;
}

/* The byte after the tag that begins at `at`, or 0 if it does not end before `last`. */
static size_t after_tag(const struct scan *scan, size_t at, size_t last) {
    for (size_t i = at; i < last;) {
        const size_t next = after_shortcode(scan, i, last);
        const bool is_open = next == i && scan->text[i] == '{' && peek(scan, i + 1) == '{';
        if (is_open) return 0;
        if (next == i && scan->text[i] == '>') return i + 1;
        i = next > i ? next : i + 1;
    }
    return 0;
}

/* The range of the value of href in a tag [at, end). */
static bool read_href(const struct scan *scan, size_t at, size_t end, size_t *start, size_t *size) {
    for (size_t i = at; i + 6 < end; i++) {
        if (!is_space(scan->text[i]) || !begins(scan, i + 1, "href=")) continue;
        const uint8_t quote = scan->text[i + 6];
        const bool is_quoted = quote == '"' || quote == '\'';
        *start = i + 6 + is_quoted;
        size_t last = after_shortcode(scan, *start, end);
        while (last < end && (is_quoted ? scan->text[last] != quote : !is_space(scan->text[last])))
            last++;
        *size = last - *start;
        return true;
    }
    return false;
}

/* <a href="target">text</a> at scan->at; false if it is none. */
static bool read_anchor(struct scan *scan) {
    const size_t at = scan->at;
    const size_t last = scan->size - at > SPAN_MAX ? at + SPAN_MAX : scan->size;
    size_t target, target_size;
    const size_t first = after_tag(scan, at, last);
    if (!first || !read_href(scan, at, first - 1, &target, &target_size)) return false;
    for (size_t i = first; i < last; i++) {
        if (scan->text[i] != '<') continue;
        if (begins(scan, i, "<a ")) return false; /* anchors do not nest */
        if (!begins(scan, i, "</a>")) continue;
        emit(scan, INLINE, at, i + 4, target, target_size, first, i - first);
        return true;
    }
    return false;
}

static void pass_markup(struct scan *scan) {
    if (begins(scan, scan->at, "<!--") && scan->at < scan->no_comment_end) {
        for (size_t i = scan->at + 4; i < scan->size; i++)
            if (begins(scan, i, "-->")) {
                scan->at = i + 3;
                return;
            }
        scan->no_comment_end = scan->at;
    }
    const bool is_anchor = begins(scan, scan->at, "<a") && is_space(peek(scan, scan->at + 2));
    if (!is_anchor || !read_anchor(scan)) scan->at++;
}

/* A label in brackets at `at`, or the text itself: sets the definition; returns the end or 0. */
static size_t read_label(const struct scan *scan, size_t at, size_t text, size_t text_size,
                         const struct definition **found) {
    if (!scan->count || text_size > LABEL_MAX) return 0;
    if (peek(scan, at) != '[') {
        *found = defined(scan, text, text_size);
        return *found ? at : 0;
    }
    size_t end = at + 1;
    while (end < scan->size && end - at < LABEL_MAX && scan->text[end] != ']' &&
           scan->text[end] != '[' && scan->text[end] != '\n')
        end++;
    if (peek(scan, end) != ']') return 0;
    const bool is_empty = end == at + 1;
    *found = is_empty ? defined(scan, text, text_size) : defined(scan, at + 1, end - at - 1);
    return *found ? end + 1 : 0;
}

/* The bracket at scan->at closes the last open one: a link, an image, or nothing. */
static void close_bracket(struct scan *scan) {
    const size_t at = scan->at++;
    if (!scan->depth) return;
    const struct bracket open = scan->open[--scan->depth];
    const size_t text = open.at + 1, text_size = at - text;
    size_t target = 0, target_size = 0, end = 0;
    uint32_t kind = INLINE;
    if (peek(scan, at + 1) == '(') end = read_parentheses(scan, at + 1, &target, &target_size);
    if (!end) {
        const struct definition *found = NULL;
        end = read_label(scan, at + 1, text, text_size, &found);
        if (!end) return;
        kind = REFERENCE;
        target = found->target;
        target_size = found->target_size;
    }
    if (open.is_image) scan->at = end;
    else emit(scan, kind, open.at, end, target, target_size, text, text_size);
}

/* Begins a line: true if it was passed over. */
static bool pass_line(struct scan *scan) {
    struct definition found;
    const size_t first = after_blanks(scan, scan->at);
    if (peek(scan, first) == '\n') scan->depth = 0;
    if (!is_fenced(scan, scan->at) && !(scan->count && read_definition(scan, scan->at, &found)))
        return false;
    scan->depth = 0;
    scan->at = line_end(scan, scan->at) + 1;
    return true;
}

static void walk(struct scan *scan) {
    while (scan->at < scan->size) {
        const size_t at = scan->at;
        if ((at == 0 || scan->text[at - 1] == '\n') && pass_line(scan)) continue;
        switch (scan->text[at]) {
            case '\\':
                scan->at += peek(scan, at + 1) == '\n' ? 1 : 2;
                break;
            case '`':
                scan->at = after_code(scan, at);
                break;
            case '<':
                pass_markup(scan);
                break;
            case '[':
                if (peek(scan, at + 1) == '[' && read_wikilink(scan)) break;
                push(scan, at);
                scan->at++;
                break;
            case ']':
                close_bracket(scan);
                break;
            default:
                scan->at++;
        }
    }
}

enum rag_status rag_links_scan(const uint8_t *text, size_t size, rag_link_sink *sink, void *context,
                               struct rag_fault *fault) {
    struct scan scan = {
        .text = text, .size = size, .sink = sink, .context = context, .no_comment_end = size};
    if (!size || (!memchr(text, ']', size) && !memchr(text, '<', size))) return RAG_OK;
    const enum rag_status status = find_definitions(&scan, fault);
    if (!status) walk(&scan);
    free(scan.definitions);
    return status;
}
