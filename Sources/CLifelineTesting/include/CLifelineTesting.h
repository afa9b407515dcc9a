#ifndef CLIFELINETESTING_H
#define CLIFELINETESTING_H

#include <errno.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#if defined(__clang__)
#pragma clang assume_nonnull begin
#endif

// What a simulated kernel reports: the error numbers of the system that the simulation runs on.

enum {
    LIFELINE_ADDRESS_IN_USE = EADDRINUSE,
    LIFELINE_ADDRESS_NOT_AVAILABLE = EADDRNOTAVAIL,
    LIFELINE_CONNECTION_REFUSED = ECONNREFUSED,
    LIFELINE_CONNECTION_RESET = ECONNRESET,
    LIFELINE_NETWORK_DOWN = ENETDOWN,
    LIFELINE_TIMED_OUT = ETIMEDOUT,
};

// Threads and waiting (thread.c).

/// Runs `body(context)` on a detached thread of its own; false if the system has no thread to give.
bool lifeline_thread_start(void (*body)(void *context), void *context);

/// What the calling thread was said to belong to; NULL on every other thread.
void *_Nullable lifeline_thread_owner(void);
void lifeline_thread_set_owner(void *_Nullable owner);

/// Something that one thread waits at and that others open. An opening without a waiter is kept.
typedef struct lifeline_gate lifeline_gate;
lifeline_gate *lifeline_gate_create(void);
void lifeline_gate_destroy(lifeline_gate *gate);
void lifeline_gate_open(lifeline_gate *gate);
/// Waits in real time and closes the gate again; false if nobody opened it.
bool lifeline_gate_wait(lifeline_gate *gate, int64_t milliseconds);

// The ways out of a simulation (hooks.c).

enum {
    LIFELINE_LEFT_FOR_POOL = 0,
    LIFELINE_LEFT_FOR_TIMER = 1,
    LIFELINE_LEFT_FOR_MAIN = 2,
};

/// Called when a job is queued elsewhere by a thread that has an owner. `frames` is valid during the call.
typedef void (*lifeline_leave_handler)(void *owner, int way, void *_Nullable const *_Nonnull frames, int count);

/// Watches the runtime's global queues from now on. The first call counts. What was hooked in before still runs.
void lifeline_watch_exits(lifeline_leave_handler handler);

// Where code stands (backtrace.c).

/// The return addresses of the calling thread, innermost first.
int lifeline_backtrace(void *_Nullable *_Nonnull frames, int capacity);

/// Where the functions of a suspended task go on, innermost first. `job` mustn't run meanwhile. None for a job that is no task.
int lifeline_task_backtrace(const void *job, void *_Nullable *_Nonnull frames, int capacity);

/// The name of the Swift function at a code address; NULL if none is known or if it belongs to the language's runtime.
char *_Nullable lifeline_symbol(const void *address);
void lifeline_symbol_free(char *symbol);

/// One line on standard error.
void lifeline_complain(const char *_Nonnull line);

#if defined(__clang__)
#pragma clang assume_nonnull end
#endif

#endif
