/* pool.c - a small pool of worker threads for scans.
 *
 * One job runs at a time. A caller that finds the pool busy runs its tasks itself, so callers on
 * many threads do not wait for one another. Tasks are distributed through a shared counter. The
 * pool belongs to one process: after a fork, the child's copy has no threads, sees another pid, and
 * starts again.
 *
 * Linux tends to wake a thread on the CPU of its waker. There it would wait for its caller, which
 * computes for milliseconds while another CPU may be idle. So the caller excludes its own CPU
 * before it wakes the workers, and each worker, once it runs, restores the caller's CPU set.
 *
 * Waking and sleeping cost about ten microseconds each. An idle worker polls for another job for
 * LINGER nanoseconds before it sleeps, and a caller as long for its last worker. An idle pool
 * uses no CPU. */
#define _GNU_SOURCE
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>
#ifdef __linux__
#include <sched.h>
#endif

#include "ragfile/machine.h"

enum { WORKERS_MAX = 63, LINGER = 50000 };

#ifdef __linux__
typedef cpu_set_t cpus;

static int this_cpu(void) { return sched_getcpu(); }

/* The CPUs that this thread may run on, or none if the system does not tell. */
static void read_cpus(cpus *allowed) {
    if (sched_getaffinity(0, sizeof *allowed, allowed) != 0) CPU_ZERO(allowed);
}

static bool same_cpus(const cpus *a, const cpus *b) { return CPU_EQUAL(a, b); }

/* Errors do not matter: the kernel then places the thread as usual. */
static void move_to(pthread_t thread, const cpus *allowed) {
    if (CPU_COUNT(allowed) > 0) pthread_setaffinity_np(thread, sizeof *allowed, allowed);
}

static void leave_cpu(cpus *allowed, int cpu) {
    /* unreached: a system that does not say on which CPU a thread runs */
    if (cpu >= 0 && cpu < CPU_SETSIZE) CPU_CLR(cpu, allowed);
}
#else
typedef int cpus;
static int this_cpu(void) { return 0; }
static void read_cpus(cpus *allowed) { *allowed = 0; }
static bool same_cpus(const cpus *a, const cpus *b) { return *a == *b; }
static void move_to(pthread_t thread, const cpus *allowed) { (void)thread, (void)allowed; }
static void leave_cpu(cpus *allowed, int cpu) { (void)allowed, (void)cpu; }
#endif

struct job {
    void (*task)(void *context, size_t i);
    void *context;
    size_t count;
    atomic_size_t next;
};

enum { NOWHERE = -1 };
struct worker {
    pthread_t thread;
    int cpu;    /* where it lingers, or NOWHERE */
    bool moved; /* shut out of its caller's CPU */
};

static struct pool {
    pthread_mutex_t busy;  /* held by the caller whose job runs */
    pthread_mutex_t guard; /* of the fields below */
    pthread_cond_t work, done;
    struct worker workers[WORKERS_MAX];
    int started;
    int asleep;         /* of those started */
    atomic_int wanted;  /* of the current job and not yet taken up; changed under the guard */
    atomic_int running; /* workers inside the current job; likewise */
    struct job *job;    /* NULL between jobs */
    cpus allowed;       /* to the last caller */
} pool = {.busy = PTHREAD_MUTEX_INITIALIZER,
          .guard = PTHREAD_MUTEX_INITIALIZER,
          .work = PTHREAD_COND_INITIALIZER,
          .done = PTHREAD_COND_INITIALIZER};

static void run_tasks(struct job *job) {
    for (size_t i;
         (i = atomic_fetch_add_explicit(&job->next, 1, memory_order_relaxed)) < job->count;)
        job->task(job->context, i);
}

static uint64_t nanoseconds(void) {
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (uint64_t)time.tv_sec * 1000000000u + (uint64_t)time.tv_nsec;
}

static inline void pause_briefly(void) {
#if defined(__x86_64__)
    __builtin_ia32_pause();
#elif defined(__aarch64__)
    __asm__ volatile("yield");
#endif
}

/* Waits until the count is zero, or not zero, as wished, for at most LINGER. */
static void linger_until(const atomic_int *count, bool zero) {
    const uint64_t end = nanoseconds() + LINGER;
    while ((atomic_load_explicit(count, memory_order_relaxed) == 0) != zero && nanoseconds() < end)
        for (int i = 0; i < 16; i++) pause_briefly();
}

/* Takes the job that a worker joins, with the lock held. *home receives the CPU set to restore,
 * if it was changed. */
static struct job *await_job(struct worker *worker, bool *moved, cpus *home) {
    pool.asleep++;
    while (!pool.job || pool.wanted == 0) {
        worker->cpu = NOWHERE;
        pthread_cond_wait(&pool.work, &pool.guard);
    }
    pool.asleep--;
    pool.wanted--;
    pool.running++;
    *moved = worker->moved;
    *home = pool.allowed;
    worker->moved = false;
    return pool.job;
}

static void *work(void *given) {
    struct worker *worker = given;
    for (;;) {
        bool moved;
        cpus home;
        pthread_mutex_lock(&pool.guard);
        struct job *job = await_job(worker, &moved, &home);
        pthread_mutex_unlock(&pool.guard);
        if (moved) move_to(pthread_self(), &home);
        run_tasks(job);
        pthread_mutex_lock(&pool.guard);
        worker->cpu = this_cpu();
        if (--pool.running == 0) pthread_cond_signal(&pool.done);
        pthread_mutex_unlock(&pool.guard);
        linger_until(&pool.wanted, false);
    }
    return NULL;
}

/* A forked child inherits locks in an arbitrary state, so it creates its own. */
static void after_fork_in_child(void) {
    pthread_mutex_init(&pool.busy, NULL);
    pthread_mutex_init(&pool.guard, NULL);
    pthread_cond_init(&pool.work, NULL);
    pthread_cond_init(&pool.done, NULL);
    pool.started = pool.asleep = 0;
    pool.wanted = pool.running = 0;
    pool.job = NULL;
}

static void register_fork_handler(void) { pthread_atfork(NULL, NULL, after_fork_in_child); }

static void start_workers(int count) {
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    pthread_once(&once, register_fork_handler);
    while (pool.started < count) {
        struct worker *worker = &pool.workers[pool.started];
        *worker = (struct worker){.cpu = NOWHERE};
        if (pthread_create(&worker->thread, NULL, work, worker) != 0)
            return; /* fewer threads: slower, never wrong */
        pthread_detach(worker->thread);
        pool.started++;
    }
}

/* Wakes the workers. Polling workers on other CPUs see the job themselves; one that polls here
 * may wait for this CPU. */
static void call_workers(void) {
    const int here = this_cpu();
    cpus allowed, elsewhere;
    read_cpus(&allowed);
    const bool changed = !same_cpus(&allowed, &pool.allowed);
    pool.allowed = elsewhere = allowed;
    leave_cpu(&elsewhere, here);
    for (int i = 0; i < pool.started; i++) {
        struct worker *worker = &pool.workers[i];
        if (!changed && worker->cpu != NOWHERE && worker->cpu != here) continue;
        move_to(worker->thread, &elsewhere);
        worker->moved = true;
    }
    if (pool.asleep > 0) pthread_cond_broadcast(&pool.work);
}

void rag_parallel(size_t count, int threads, void (*task)(void *context, size_t i), void *context) {
    struct job job = {.task = task, .context = context, .count = count};
    if ((size_t)(threads > 0 ? threads : 1) > count) threads = (int)count;
    if (threads > WORKERS_MAX + 1) threads = WORKERS_MAX + 1;
    if (threads <= 1 || pthread_mutex_trylock(&pool.busy) != 0) {
        run_tasks(&job);
        return;
    }
    pthread_mutex_lock(&pool.guard);
    start_workers(threads - 1);
    pool.job = &job;
    pool.wanted = threads - 1 < pool.started ? threads - 1 : pool.started;
    call_workers();
    pthread_mutex_unlock(&pool.guard);
    run_tasks(&job);
    pthread_mutex_lock(&pool.guard);
    pool.wanted = 0;
    pthread_mutex_unlock(&pool.guard);
    linger_until(&pool.running, true);
    pthread_mutex_lock(&pool.guard);
    while (pool.running > 0) pthread_cond_wait(&pool.done, &pool.guard);
    pool.job = NULL;
    pthread_mutex_unlock(&pool.guard);
    pthread_mutex_unlock(&pool.busy);
}

int rag_cpu_count(void) {
#ifdef __linux__
    cpu_set_t set;
    if (sched_getaffinity(0, sizeof set, &set) == 0) return CPU_COUNT(&set);
#endif
    long count = sysconf(_SC_NPROCESSORS_ONLN);
    /* unreached: a system that does not say how many CPUs it has */
    return count > 0 ? (int)count : 1;
}
