/* lock_wait.c - writers that wait for one another: processes, threads, a file that is replaced
 * meanwhile, and waiters that give up.
 *
 *    lock_wait FOLDER */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "ragfile.h"

#define MUST(condition)    \
    ((condition) ? (void)0 \
                 : (fprintf(stderr, "%s:%d: %s\n", __FILE__, __LINE__, #condition), abort()))

enum { WRITERS = 6, TURNS = 40 };
static const double LONG = 1e6;
static char path[4096];

static struct rag_file *taken(double seconds) {
    struct rag_file *file;
    struct rag_fault fault;
    MUST(rag_file_edit_within(path, seconds, &file, &fault) == RAG_OK);
    return file;
}

static void refused(double seconds, uint64_t holder) {
    struct rag_file *file;
    struct rag_fault fault;
    MUST(rag_file_edit_within(path, seconds, &file, &fault) == RAG_LOCKED);
    MUST(fault.at == holder);
}

/* A child that holds the file from the time of this call until a byte arrives on *line. */
static pid_t holder(int *line, bool replaces) {
    int held[2], end[2];
    char byte;
    MUST(pipe(held) == 0 && pipe(end) == 0);
    const pid_t child = fork();
    if (child == 0) {
        struct rag_file *file = taken(0), *made;
        close(end[1]);
        MUST(write(held[1], ".", 1) == 1);
        MUST(read(end[0], &byte, 1) == 1);
        if (replaces) {
            MUST(rag_file_create(path, &made, NULL) == RAG_OK);
            MUST(rag_file_write(made, 0, "new", 3, NULL) == RAG_OK);
            MUST(rag_file_publish(made, true, NULL) == RAG_OK);
            rag_file_discard(made);
        }
        rag_file_discard(file);
        _exit(0);
    }
    MUST(read(held[0], &byte, 1) == 1);
    close(held[0]), close(held[1]), close(end[0]);
    *line = end[1];
    return child;
}

static void release(pid_t child, int line) {
    int status;
    MUST(write(line, ".", 1) == 1);
    close(line);
    MUST(waitpid(child, &status, 0) == child && status == 0);
}

static void *taker(void *file) {
    *(struct rag_file **)file = taken(LONG);
    return NULL;
}

/* A waiter gets the file that has the name once the holder is gone. */
static void wait_for_process(bool replaces) {
    struct rag_file *file = NULL;
    struct rag_map map;
    pthread_t waiter;
    int line;
    const pid_t child = holder(&line, replaces);
    MUST(pthread_create(&waiter, NULL, taker, &file) == 0);
    usleep(5000);
    release(child, line);
    MUST(pthread_join(waiter, NULL) == 0);
    MUST(rag_file_map(file, &map, NULL) == RAG_OK);
    MUST(!replaces || (map.size == 3 && memcmp(map.bytes, "new", 3) == 0));
    rag_map_close(&map);
    rag_file_discard(file);
}

static void give_up(void) {
    int line;
    const pid_t child = holder(&line, false);
    refused(0, (uint64_t)child);
    refused(0.01, (uint64_t)child);
    refused(-1, (uint64_t)child);
    refused(0.0 / 0.0, (uint64_t)child);
    release(child, line);
    for (int i = 0; i < 20; i++) { /* no waiter that gave up has it, now or later */
        rag_file_discard(taken(0));
        usleep(2000);
    }
}

/* Another thread waits for this one; this one never waits for itself. */
static void wait_for_thread(void) {
    struct rag_file *file = taken(0), *other = NULL;
    pthread_t waiter;
    refused(LONG, (uint64_t)getpid());
    MUST(pthread_create(&waiter, NULL, taker, &other) == 0);
    usleep(5000);
    rag_file_discard(file);
    MUST(pthread_join(waiter, NULL) == 0);
    refused(0.01, (uint64_t)getpid());
    rag_file_discard(other);
}

/* Adds one to the number in the file, with and without a commit of its own between the two. */
static void count(void) {
    struct rag_map map;
    for (int turn = 0; turn < TURNS; turn++) {
        struct rag_file *file = taken(LONG);
        uint32_t number = 0;
        MUST(rag_file_map(file, &map, NULL) == RAG_OK);
        memcpy(&number, map.bytes, sizeof number);
        rag_map_close(&map);
        number++;
        if (turn % 8 == 0) usleep(300);
        MUST(rag_file_write(file, 0, &number, sizeof number, NULL) == RAG_OK);
        rag_file_discard(file);
    }
}

static void *counter(void *unused) {
    count();
    return unused;
}

static void count_together(void) {
    struct rag_file *file = taken(0);
    struct rag_map map;
    uint32_t number = 0;
    MUST(rag_file_write(file, 0, &number, sizeof number, NULL) == RAG_OK);
    rag_file_discard(file);
    pid_t children[WRITERS];
    for (int i = 0; i < WRITERS; i++) {
        children[i] = fork();
        if (children[i] != 0) continue;
        pthread_t other;
        MUST(pthread_create(&other, NULL, counter, NULL) == 0);
        count();
        MUST(pthread_join(other, NULL) == 0);
        _exit(0);
    }
    for (int i = 0; i < WRITERS; i++) {
        int status;
        MUST(waitpid(children[i], &status, 0) == children[i] && status == 0);
    }
    MUST(rag_map_open(path, &map, NULL) == RAG_OK);
    memcpy(&number, map.bytes, sizeof number);
    MUST(number == 2 * WRITERS * TURNS);
    rag_map_close(&map);
}

int main(int argc, char **argv) {
    struct rag_file *file;
    struct rag_fault fault;
    MUST(argc == 2);
    snprintf(path, sizeof path, "%s/locked", argv[1]);
    MUST(rag_file_edit_within(path, LONG, &file, &fault) == RAG_OS); /* nothing to wait for */
    MUST(rag_file_create(path, &file, NULL) == RAG_OK);
    MUST(rag_file_write(file, 0, "old!", 4, NULL) == RAG_OK);
    MUST(rag_file_publish(file, false, NULL) == RAG_OK);
    rag_file_discard(file);
    wait_for_process(false);
    wait_for_process(true);
    give_up();
    wait_for_thread();
    count_together();
    printf("all had their turns\n");
    return 0;
}
