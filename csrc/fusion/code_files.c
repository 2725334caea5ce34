/* code_files.c - how the path of a source file fits a question.
 *
 * A path is the id of a document: folders, a name and a suffix. Its suffix decides whether it is
 * code, the words of its name and folder whether it answers the question, and a few names whether
 * it is a test, an example, generated, or a list of exports. All comparisons ignore the case of
 * ASCII letters. */
#include <string.h>

#include "fusion/code.h"
#include "ragfile/fusion.h"

/* Suffixes of source code: those of the loaders that find definitions. */
static const char *const suffixes[] = {
    "py",  "pyi",  "pyx",     "pxd",   "pyw", "c",    "h",     "cc",   "cpp", "cxx",
    "hh",  "hpp",  "hxx",     "c++",   "h++", "java", "go",    "rs",   "js",  "mjs",
    "cjs", "jsx",  "ts",      "tsx",   "mts", "cts",  "sh",    "bash", "zsh", "ksh",
    "cs",  "ex",   "exs",     "hs",    "kt",  "kts",  "lua",   "php",  "ps1", "psm1",
    "rb",  "rake", "gemspec", "scala", "sc",  "sql",  "swift", "zig",  NULL};
/* Words of English questions that name no file. */
static const char *const common[] = {
    "an",    "and",   "are",   "as",   "at",   "be", "by",   "can",  "do",   "does",
    "for",   "from",  "has",   "have", "how",  "if", "in",   "into", "is",   "it",
    "its",   "no",    "not",   "of",   "on",   "or", "such", "that", "the",  "their",
    "then",  "there", "these", "they", "this", "to", "was",  "what", "when", "where",
    "which", "who",   "why",   "will", "with", NULL};
static const char *const aside_folders[] = {
    "test",    "tests",       "testing",      "testdata", "spec",      "specs",      "mock",
    "mocks",   "fixture",     "fixtures",     "e2e",      "example",   "examples",   "sample",
    "samples", "demo",        "demos",        "bench",    "benchmark", "benchmarks", "generated",
    "vendor",  "third_party", "node_modules", "dist",     NULL};
static const char *const test_words[] = {"test", "tests", "spec", "conftest", NULL};
static const char *const made_marks[] = {".pb.",        "_pb2.",       ".min.",
                                         ".generated.", "_generated.", NULL};
static const char *const barrels[] = {
    "__init__.py", "__init__.pyi", "index.js", "index.mjs", "index.cjs",         "index.ts",
    "index.tsx",   "index.jsx",    "mod.rs",   "doc.go",    "package-info.java", NULL};

static uint8_t lower(uint8_t byte) {
    return byte >= 'A' && byte <= 'Z' ? (uint8_t)(byte + 32) : byte;
}

static bool is_named(struct rag_code_word word, const char *name) {
    size_t i = 0;
    while (i < word.size && name[i] && lower(word.at[i]) == (uint8_t)name[i]) i++;
    return i == word.size && !name[i];
}

static bool is_one_of(struct rag_code_word word, const char *const *names) {
    while (*names && !is_named(word, *names)) names++;
    return *names != NULL;
}

/* --------------------------------------------------------------------------------------- words */

enum letter { OTHER, LOWER, UPPER, DIGIT };

static enum letter letter_of(uint8_t byte) {
    if ((byte >= 'a' && byte <= 'z') || byte >= 0x80) return LOWER;
    if (byte >= 'A' && byte <= 'Z') return UPPER;
    return byte >= '0' && byte <= '9' ? DIGIT : OTHER;
}

static size_t run_of(const uint8_t *text, size_t size, size_t at, enum letter letter) {
    while (at < size && letter_of(text[at]) == letter) at++;
    return at;
}

/* The end of the word that begins at `at`: "HTTPServer2" is HTTP, Server, 2. */
static size_t end_of(const uint8_t *text, size_t size, size_t at) {
    const enum letter first = letter_of(text[at]);
    const size_t end = run_of(text, size, at, first);
    if (first != UPPER || end == size || letter_of(text[end]) != LOWER) return end;
    return end - at > 1 ? end - 1 : run_of(text, size, end, LOWER);
}

static void split(const uint8_t *text, size_t size, struct rag_code_words *words) {
    for (size_t at = 0; at < size && words->count < RAG_CODE_WORDS;) {
        if (letter_of(text[at]) == OTHER) {
            at++;
            continue;
        }
        const size_t end = end_of(text, size, at);
        words->all[words->count++] = (struct rag_code_word){text + at, end - at};
        at = end;
    }
}

/* The bytes that two words begin with alike. */
static size_t shared(struct rag_code_word a, struct rag_code_word b) {
    size_t i = 0;
    while (i < a.size && i < b.size && lower(a.at[i]) == lower(b.at[i])) i++;
    return i;
}

static bool is_same(struct rag_code_word a, struct rag_code_word b) {
    return a.size == b.size && shared(a, b) == a.size;
}

static bool is_alike(struct rag_code_word a, struct rag_code_word b) {
    const size_t same = shared(a, b), shorter = a.size < b.size ? a.size : b.size;
    return is_same(a, b) || (same == shorter && same >= 3) || (same + 1 == shorter && same >= 4);
}

void rag_code_question(const uint8_t *text, size_t size, struct rag_code_words *words) {
    struct rag_code_words all = {.count = 0};
    split(text, size, &all);
    words->count = 0;
    for (size_t i = 0, j; i < all.count; i++) {
        if (all.all[i].size < 2 || is_one_of(all.all[i], common)) continue;
        for (j = 0; j < words->count && !is_same(all.all[i], words->all[j]); j++) {
        }
        if (j == words->count) words->all[words->count++] = all.all[i];
    }
}

/* --------------------------------------------------------------------------------------- paths */

/* The name of a file: the last component of a path. */
static struct rag_code_word name_of(const uint8_t *id, size_t size) {
    size_t at = size;
    while (at && id[at - 1] != '/') at--;
    return (struct rag_code_word){id + at, size - at};
}

/* The component before a name, empty if there is none. */
static struct rag_code_word folder_of(const uint8_t *id, struct rag_code_word name) {
    const size_t end = (size_t)(name.at - id);
    return end ? name_of(id, end - 1) : (struct rag_code_word){id, 0};
}

/* A name without its last suffix, or without all; a leading dot begins no suffix. */
static struct rag_code_word stem_of(struct rag_code_word name, bool all) {
    size_t end = name.size;
    for (size_t i = name.size; i-- > 1;)
        if (name.at[i] == '.') {
            end = i;
            if (!all) break;
        }
    return (struct rag_code_word){name.at, end};
}

bool rag_is_code(const uint8_t *id, size_t size) {
    const struct rag_code_word name = name_of(id, size), stem = stem_of(name, false);
    if (stem.size == name.size) return false;
    const size_t after = stem.size + 1;
    return is_one_of((struct rag_code_word){name.at + after, name.size - after}, suffixes);
}

double rag_code_share(const struct rag_code_words *asked, const uint8_t *id, size_t size) {
    const struct rag_code_word name = name_of(id, size), stem = stem_of(name, true);
    const struct rag_code_word folder = folder_of(id, name);
    struct rag_code_words words = {.count = 0};
    size_t found = 0;
    split(stem.at, stem.size, &words);
    split(folder.at, folder.size, &words);
    for (size_t i = 0, j; i < asked->count; i++) {
        for (j = 0; j < words.count && !is_alike(asked->all[i], words.all[j]); j++) {
        }
        found += j < words.count;
    }
    return asked->count ? (double)found / (double)asked->count : 0;
}

/* -------------------------------------------------------------------------------------- priors */

/* Whether a question has a word, in the singular or the plural. */
static bool has_word(const struct rag_code_words *asked, struct rag_code_word word) {
    if (word.size > 1 && lower(word.at[word.size - 1]) == 's') word.size--;
    for (size_t i = 0; i < asked->count; i++) {
        struct rag_code_word one = asked->all[i];
        if (one.size == word.size + 1 && lower(one.at[word.size]) == 's') one.size--;
        if (is_same(one, word)) return true;
    }
    return false;
}

/* Whether a folder is one of tests or the like, and the question does not ask for it. */
static bool is_aside(const struct rag_code_words *asked, struct rag_code_word folder) {
    while (folder.size && *folder.at == '_') folder.at++, folder.size--;
    while (folder.size && folder.at[folder.size - 1] == '_') folder.size--;
    return is_one_of(folder, aside_folders) && !has_word(asked, folder);
}

static bool is_below_aside(const struct rag_code_words *asked, const uint8_t *id, size_t size) {
    for (size_t at = 0, end; at < size; at = end + 1) {
        for (end = at; end < size && id[end] != '/'; end++) {
        }
        if (is_aside(asked, (struct rag_code_word){id + at, end - at})) return true;
    }
    return false;
}

/* Whether a name is that of a test: its first or last word is "test" or "spec". */
static bool is_test(const struct rag_code_words *asked, struct rag_code_word name) {
    const struct rag_code_word stem = stem_of(name, false);
    struct rag_code_words words = {.count = 0};
    split(stem.at, stem.size, &words);
    for (size_t i = 0; i < words.count; i += words.count > 1 ? words.count - 1 : 1)
        if (is_one_of(words.all[i], test_words) && !has_word(asked, words.all[i])) return true;
    return false;
}

static bool has_mark(struct rag_code_word name, const char *mark) {
    const size_t size = strlen(mark);
    for (size_t i = 0; i + size <= name.size; i++)
        if (is_named((struct rag_code_word){name.at + i, size}, mark)) return true;
    return false;
}

static bool is_made(struct rag_code_word name) {
    const char *const *mark = made_marks;
    while (*mark && !has_mark(name, *mark)) mark++;
    return *mark != NULL;
}

double rag_code_prior(const struct rag_code_words *asked, const uint8_t *id, size_t size) {
    const struct rag_code_word name = name_of(id, size);
    const size_t before = (size_t)(name.at - id);
    double prior = 1;
    if (is_below_aside(asked, id, before) || is_test(asked, name) || is_made(name))
        prior *= RAG_CODE_ASIDE;
    if (is_one_of(name, barrels) || has_mark(name, ".d.ts")) prior *= RAG_CODE_BARREL;
    return prior;
}
