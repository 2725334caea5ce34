/* pool_race.c - the thread pool under sanitizers: every task runs once, for any caller and number
 * of concurrent callers.
 *
 * Callers of several threads start jobs of all sizes, also in forked children and while pinned to
 * one CPU; a task records its run without a lock, so that the sanitizer sees a race between tasks
 * and their caller. cc -std=gnu11 -g -fsanitize=thread -Icsrc/include -Icsrc
 * csrc/tests/drivers/pool_race.c csrc/system/thread_pool.c csrc/system/posix.c -lpthread -o race
 * && ./race */
#define _GNU_SOURCE
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>
#ifdef __linux__
#include <sched.h>
#endif

#include "ragfile/machine.h"

enum { CALLERS = 4, JOBS = 3000, TASKS_MAX = 300, CHILDREN = 20 };

static void fail(const char *what) {
    fprintf(stderr, "pool_race: %s\n", what);
    _exit(1);
}

struct board {
    unsigned runs[TASKS_MAX];
    unsigned weight;
};

static void note(void *context, size_t i) {
    struct board *board = context;
    volatile unsigned work = board->weight;
    while (work) work--;
    board->runs[i]++;
}

static unsigned draw(unsigned *state, unsigned below) { return (unsigned)rand_r(state) % below; }

static void run_jobs(unsigned seed, int jobs) {
    for (int job = 0; job < jobs; job++) {
        struct board board = {.weight = draw(&seed, 400)};
        const size_t count = draw(&seed, TASKS_MAX + 1);
        rag_parallel(count, (int)draw(&seed, 7) - 1, note, &board);
        for (size_t i = 0; i < TASKS_MAX; i++)
            if (board.runs[i] != (i < count)) fail("a task did not run exactly once");
        if (draw(&seed, 50) == 0) usleep(draw(&seed, 300));
    }
}

static void *caller(void *seed) {
    run_jobs((unsigned)(size_t)seed, JOBS);
    return NULL;
}

static void fork_and_run(void) {
    for (int i = 0; i < CHILDREN; i++) {
        const pid_t child = fork();
        if (child == 0) {
            run_jobs((unsigned)i + 77, 20);
            _exit(0);
        }
        int status;
        if (waitpid(child, &status, 0) != child || status != 0) fail("a forked child failed");
        run_jobs((unsigned)i, 5);
    }
}

#ifdef __linux__
static void check_cpus(void *caller_cpus, size_t i) {
    cpu_set_t mine;
    (void)i;
    if (sched_getaffinity(0, sizeof mine, &mine) == 0 &&
        !CPU_EQUAL(&mine, (cpu_set_t *)caller_cpus))
        fail("a worker may not run where its caller may");
}

static void run_pinned(void) {
    cpu_set_t all, one;
    if (sched_getaffinity(0, sizeof all, &all) != 0) return;
    for (int cpu = 0; cpu < CPU_SETSIZE; cpu++) {
        if (!CPU_ISSET(cpu, &all)) continue;
        CPU_ZERO(&one);
        CPU_SET(cpu, &one);
        sched_setaffinity(0, sizeof one, &one);
        for (int i = 0; i < 100; i++) rag_parallel(50, 4, check_cpus, &one);
        sched_setaffinity(0, sizeof all, &all);
        for (int i = 0; i < 100; i++) rag_parallel(50, 4, check_cpus, &all);
    }
}
#else
static void run_pinned(void) {}
#endif

int main(void) {
    pthread_t callers[CALLERS];
    fork_and_run();
    run_pinned();
    for (size_t i = 0; i < CALLERS; i++) pthread_create(&callers[i], NULL, caller, (void *)(i + 1));
    for (size_t i = 0; i < CALLERS; i++) pthread_join(callers[i], NULL);
    fork_and_run();
    printf("every task ran once\n");
    return 0;
}
