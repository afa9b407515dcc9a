#include "CLifelineTesting.h"

#include <pthread.h>

// The runtime's exported, undocumented hooks: each sees a job on its way to a global queue and the function that queues it.

#define SWIFTCALL __attribute__((swiftcall))

typedef struct job job;
typedef struct { void *identity; uintptr_t implementation; } executor;

typedef SWIFTCALL void (*queue_job)(job *);
typedef SWIFTCALL void (*queue_delayed)(unsigned long long delay, job *);
typedef SWIFTCALL void (*queue_deadline)(
    long long seconds, long long nanoseconds, long long tolerance_seconds, long long tolerance_nanoseconds, int clock, job *);

typedef SWIFTCALL void (*job_hook)(job *, queue_job original);
typedef SWIFTCALL executor (*main_query)(void);
typedef SWIFTCALL executor (*main_hook)(main_query original);
typedef SWIFTCALL void (*delayed_hook)(unsigned long long delay, job *, queue_delayed original);
typedef SWIFTCALL void (*deadline_hook)(
    long long seconds, long long nanoseconds, long long tolerance_seconds, long long tolerance_nanoseconds, int clock, job *,
    queue_deadline original);

extern job_hook swift_task_enqueueGlobal_hook;
extern job_hook swift_task_enqueueMainExecutor_hook;
extern delayed_hook swift_task_enqueueGlobalWithDelay_hook;
// Not in every release of the runtime.
extern main_hook swift_task_getMainExecutor_hook __attribute__((weak));
extern deadline_hook swift_task_enqueueGlobalWithDeadline_hook;

static job_hook previous_global;
static job_hook previous_main;
static main_hook previous_query;
static delayed_hook previous_delayed;
static deadline_hook previous_deadline;

static lifeline_leave_handler leave_handler;

static void report(int way) {
    void *owner = lifeline_thread_owner();
    if (!owner) return;
    void *frames[48];
    int count = lifeline_backtrace(frames, 48);
    leave_handler(owner, way, frames, count);
}

static SWIFTCALL void on_global(job *job, queue_job original) {
    report(LIFELINE_LEFT_FOR_POOL);
    if (previous_global) previous_global(job, original);
    else original(job);
}

static SWIFTCALL void on_main(job *job, queue_job original) {
    report(LIFELINE_LEFT_FOR_MAIN);
    if (previous_main) previous_main(job, original);
    else original(job);
}

static SWIFTCALL void on_delayed(unsigned long long delay, job *job, queue_delayed original) {
    report(LIFELINE_LEFT_FOR_TIMER);
    if (previous_delayed) previous_delayed(delay, job, original);
    else original(delay, job);
}

static SWIFTCALL void on_deadline(
    long long seconds, long long nanoseconds, long long tolerance_seconds, long long tolerance_nanoseconds, int clock, job *job,
    queue_deadline original
) {
    report(LIFELINE_LEFT_FOR_TIMER);
    if (previous_deadline) {
        previous_deadline(seconds, nanoseconds, tolerance_seconds, tolerance_nanoseconds, clock, job, original);
    } else {
        original(seconds, nanoseconds, tolerance_seconds, tolerance_nanoseconds, clock, job);
    }
}

// A task that is to run on the main actor asks which executor that is, and goes there past the hooks for queues.
static SWIFTCALL executor on_main_query(main_query original) {
    report(LIFELINE_LEFT_FOR_MAIN);
    return previous_query ? previous_query(original) : original();
}

static void install(void) {
    if (&swift_task_getMainExecutor_hook) {
        previous_query = swift_task_getMainExecutor_hook;
        __atomic_store_n(&swift_task_getMainExecutor_hook, on_main_query, __ATOMIC_RELEASE);
    }
    previous_global = swift_task_enqueueGlobal_hook;
    previous_main = swift_task_enqueueMainExecutor_hook;
    previous_delayed = swift_task_enqueueGlobalWithDelay_hook;
    previous_deadline = swift_task_enqueueGlobalWithDeadline_hook;
    __atomic_store_n(&swift_task_enqueueGlobal_hook, on_global, __ATOMIC_RELEASE);
    __atomic_store_n(&swift_task_enqueueMainExecutor_hook, on_main, __ATOMIC_RELEASE);
    __atomic_store_n(&swift_task_enqueueGlobalWithDelay_hook, on_delayed, __ATOMIC_RELEASE);
    __atomic_store_n(&swift_task_enqueueGlobalWithDeadline_hook, on_deadline, __ATOMIC_RELEASE);
}

void lifeline_watch_exits(lifeline_leave_handler handler) {
    static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
    pthread_mutex_lock(&lock);
    if (!leave_handler) {
        leave_handler = handler;
        install();
    }
    pthread_mutex_unlock(&lock);
}
