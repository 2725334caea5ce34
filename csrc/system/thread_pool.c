/* thread_pool.c - a small pool of worker threads for scans.
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
#include <stdatomic.h>
#include <string.h>

#include "ragfile/machine.h"
#include "system/system.h"

enum { WORKERS_MAX = 63, LINGER = 50000 };

struct job {
    void (*task)(void *context, size_t i);
    void *context;
    size_t count;
    atomic_size_t next;
};

enum { NOWHERE = -1 };
struct worker {
    rag_thread thread;
    int cpu;    /* where it lingers, or NOWHERE */
    bool moved; /* shut out of its caller's CPU */
};

static struct pool {
    atomic_flag busy; /* set by the caller whose job runs */
    rag_mutex guard;  /* of the fields below */
    rag_event work, done;
    struct worker workers[WORKERS_MAX];
    int started;
    bool forks;         /* a forked child is prepared */
    int asleep;         /* of those started */
    atomic_int wanted;  /* of the current job and not yet taken up; changed under the guard */
    atomic_int running; /* workers inside the current job; likewise */
    struct job *job;    /* NULL between jobs */
    rag_cpus allowed;   /* to the last caller */
} pool = {.busy = ATOMIC_FLAG_INIT, .guard = RAG_MUTEX, .work = RAG_EVENT, .done = RAG_EVENT};

static void run_tasks(struct job *job) {
    for (size_t i;
         (i = atomic_fetch_add_explicit(&job->next, 1, memory_order_relaxed)) < job->count;)
        job->task(job->context, i);
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
    const uint64_t end = rag_nanoseconds() + LINGER;
    while ((atomic_load_explicit(count, memory_order_relaxed) == 0) != zero &&
           rag_nanoseconds() < end)
        for (int i = 0; i < 16; i++) pause_briefly();
}

/* Takes the job that a worker joins, with the lock held. *home receives the CPU set to restore,
 * if it was changed. */
static struct job *await_job(struct worker *worker, bool *moved, rag_cpus *home) {
    pool.asleep++;
    while (!pool.job || pool.wanted == 0) {
        worker->cpu = NOWHERE;
        rag_event_wait(&pool.work, &pool.guard);
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
        rag_cpus home;
        rag_mutex_lock(&pool.guard);
        struct job *job = await_job(worker, &moved, &home);
        rag_mutex_unlock(&pool.guard);
        if (moved) rag_thread_place(rag_this_thread(), &home);
        run_tasks(job);
        rag_mutex_lock(&pool.guard);
        worker->cpu = rag_this_cpu();
        if (--pool.running == 0) rag_event_wake_one(&pool.done);
        rag_mutex_unlock(&pool.guard);
        linger_until(&pool.wanted, false);
    }
    return NULL;
}

/* A forked child inherits locks in an arbitrary state, so it creates its own. */
static void after_fork_in_child(void) {
    atomic_flag_clear(&pool.busy);
    rag_mutex_open(&pool.guard);
    rag_event_open(&pool.work);
    rag_event_open(&pool.done);
    pool.started = pool.asleep = 0;
    pool.wanted = pool.running = 0;
    pool.job = NULL;
}

static void start_workers(int count) {
    if (!pool.forks) rag_after_fork(after_fork_in_child);
    pool.forks = true;
    while (pool.started < count) {
        struct worker *worker = &pool.workers[pool.started];
        *worker = (struct worker){.cpu = NOWHERE};
        if (!rag_thread_start(&worker->thread, work, worker))
            return; /* fewer threads: slower, never wrong */
        pool.started++;
    }
}

static void leave_cpu(rag_cpus *allowed, int cpu) {
    /* unreached: a system without the number of a thread's CPU */
    if (cpu >= 0 && (size_t)cpu < 8 * sizeof allowed->bits)
        allowed->bits[cpu / 64] &= ~((uint64_t)1 << cpu % 64);
}

/* Wakes the workers. Polling workers on other CPUs see the job themselves; one that polls here
 * may wait for this CPU. */
static void call_workers(void) {
    const int here = rag_this_cpu();
    const rag_cpus allowed = rag_allowed_cpus();
    const bool changed = memcmp(&allowed, &pool.allowed, sizeof allowed) != 0;
    rag_cpus elsewhere = pool.allowed = allowed;
    leave_cpu(&elsewhere, here);
    for (int i = 0; i < pool.started; i++) {
        struct worker *worker = &pool.workers[i];
        if (!changed && worker->cpu != NOWHERE && worker->cpu != here) continue;
        rag_thread_place(worker->thread, &elsewhere);
        worker->moved = true;
    }
    if (pool.asleep > 0) rag_event_wake_all(&pool.work);
}

void rag_parallel(size_t count, int threads, void (*task)(void *context, size_t i), void *context) {
    struct job job = {.task = task, .context = context, .count = count};
    if ((size_t)(threads > 0 ? threads : 1) > count) threads = (int)count;
    if (threads > WORKERS_MAX + 1) threads = WORKERS_MAX + 1;
    if (threads <= 1 || atomic_flag_test_and_set_explicit(&pool.busy, memory_order_acquire)) {
        run_tasks(&job);
        return;
    }
    rag_mutex_lock(&pool.guard);
    start_workers(threads - 1);
    pool.job = &job;
    pool.wanted = threads - 1 < pool.started ? threads - 1 : pool.started;
    call_workers();
    rag_mutex_unlock(&pool.guard);
    run_tasks(&job);
    rag_mutex_lock(&pool.guard);
    pool.wanted = 0;
    rag_mutex_unlock(&pool.guard);
    linger_until(&pool.running, true);
    rag_mutex_lock(&pool.guard);
    while (pool.running > 0) rag_event_wait(&pool.done, &pool.guard);
    pool.job = NULL;
    rag_mutex_unlock(&pool.guard);
    atomic_flag_clear_explicit(&pool.busy, memory_order_release);
}
