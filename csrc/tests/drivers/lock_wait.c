/* lock_wait.c - writers that wait for one another: processes, threads, a file that is replaced
 * meanwhile, waiters that give up or are stopped, and the order of turns.
 *
 *    lock_wait FOLDER */
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "ragfile.h"

#define MUST(condition)    \
    ((condition) ? (void)0 \
                 : (fprintf(stderr, "%s:%d: %s\n", __FILE__, __LINE__, #condition), abort()))

enum { WRITERS = 6, TURNS = 40, COMEBACKS = 200 };
static const double LONG = 1e6;
static char path[4096];

static struct rag_file *taken(double seconds) {
    struct rag_file *file;
    struct rag_fault fault;
    const struct rag_wait wait = {.seconds = seconds};
    MUST(rag_file_edit(path, &wait, &file, &fault) == RAG_OK);
    return file;
}

static void refused(double seconds, uint64_t holder) {
    struct rag_file *file;
    struct rag_fault fault;
    const struct rag_wait wait = {.seconds = seconds};
    MUST(rag_file_edit(path, &wait, &file, &fault) == RAG_LOCKED);
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

static bool no(void *asked) {
    ++*(int *)asked;
    return false;
}

/* A waiting thread can be called back, and does not take the lock afterwards. */
static void call_back(void) {
    int line, asked = 0;
    const pid_t child = holder(&line, false);
    struct rag_file *file;
    struct rag_fault fault;
    const struct rag_wait wait = {LONG, no, &asked};
    MUST(rag_file_edit(path, &wait, &file, &fault) == RAG_LOCKED);
    MUST(asked == 1 && fault.at == (uint64_t)child);
    release(child, line);
    rag_file_discard(taken(0));
}

/* A process that is stopped while it waits, as the first one, does not keep the others waiting. */
static void stop_one(void) {
    int line, status;
    const pid_t child = holder(&line, false), waiter = fork();
    if (waiter == 0) {
        rag_file_discard(taken(LONG));
        _exit(0);
    }
    usleep(20000);
    MUST(kill(waiter, SIGSTOP) == 0);
    MUST(waitpid(waiter, &status, WUNTRACED) == waiter && WIFSTOPPED(status));
    release(child, line);
    for (int i = 0; i < 3; i++) rag_file_discard(taken(LONG));
    MUST(kill(waiter, SIGCONT) == 0);
    MUST(waitpid(waiter, &status, 0) == waiter && status == 0);
}

static uint32_t number_of_turns(void) {
    struct rag_map map;
    uint32_t number;
    MUST(rag_map_open(path, &map, NULL) == RAG_OK);
    memcpy(&number, map.bytes, sizeof number);
    rag_map_close(&map);
    return number;
}

/* Takes many turns, each right after the last; the most turns of others that a wait lasted. */
static uint32_t come_back_at_once(void) {
    uint32_t most = 0, before = number_of_turns();
    for (int turn = 0; turn < COMEBACKS; turn++) {
        struct rag_file *file = taken(LONG);
        const uint32_t number = number_of_turns() + 1;
        if (number - before > most) most = number - before;
        before = number;
        usleep(1000);
        MUST(rag_file_write(file, 0, &number, sizeof number, NULL) == RAG_OK);
        rag_file_discard(file);
    }
    return most;
}

/* None of four processes that write without a pause keeps another one from its turn. */
static void keep_order(void) {
    pid_t children[4];
    int said[2];
    MUST(pipe(said) == 0);
    for (int i = 0; i < 4; i++) {
        children[i] = fork();
        if (children[i] != 0) continue;
        const uint32_t most = come_back_at_once();
        MUST(write(said[1], &most, sizeof most) == sizeof most);
        _exit(0);
    }
    for (int i = 0; i < 4; i++) {
        int status;
        uint32_t most;
        MUST(waitpid(children[i], &status, 0) == children[i] && status == 0);
        MUST(read(said[0], &most, sizeof most) == sizeof most);
        MUST(most < 60); /* 4 in order; more if the system lets a process sleep */
    }
    close(said[0]), close(said[1]);
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
    const struct rag_wait wait = {.seconds = LONG};
    MUST(rag_file_edit(path, &wait, &file, &fault) == RAG_OS); /* nothing to wait for */
    MUST(rag_file_create(path, &file, NULL) == RAG_OK);
    MUST(rag_file_write(file, 0, "old!", 4, NULL) == RAG_OK);
    MUST(rag_file_publish(file, false, NULL) == RAG_OK);
    rag_file_discard(file);
    wait_for_process(false);
    wait_for_process(true);
    give_up();
    wait_for_thread();
    call_back();
    stop_one();
    keep_order();
    count_together();
    printf("all had their turns\n");
    return 0;
}
