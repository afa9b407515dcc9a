// Threads, their event loop, clocks, and words on standard error.

#define _GNU_SOURCE
#include "CLifelineSystem.h"

#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#ifdef __linux__
#include <sched.h>
#endif

static __thread void *current_loop;

void *lls_current_loop(void) {
    return current_loop;
}

void lls_set_current_loop(void *loop) {
    current_loop = loop;
}

struct start {
    void (*body)(void *);
    void *context;
    char name[16];
};

static void *begin(void *argument) {
    struct start start = *(struct start *)argument;
    free(argument);
#ifdef __APPLE__
    pthread_setname_np(start.name);
#else
    pthread_setname_np(pthread_self(), start.name);
#endif
    start.body(start.context);
    return NULL;
}

int lls_start_thread(const char *name, void (*body)(void *), void *context) {
    struct start *start = malloc(sizeof *start);
    if (start == NULL) return -ENOMEM;
    start->body = body;
    start->context = context;
    snprintf(start->name, sizeof start->name, "%s", name);
    pthread_attr_t attributes;
    pthread_attr_init(&attributes);
    pthread_attr_setdetachstate(&attributes, PTHREAD_CREATE_DETACHED);
    pthread_t thread;
    int error = pthread_create(&thread, &attributes, begin, start);
    pthread_attr_destroy(&attributes);
    if (error != 0) free(start);
    return -error;
}

static int64_t read_clock(clockid_t clock) {
    struct timespec time;
    clock_gettime(clock, &time);
    return (int64_t)time.tv_sec * 1000000000 + time.tv_nsec;
}

int64_t lls_now(void) {
    return read_clock(CLOCK_MONOTONIC);
}

int64_t lls_coarse_now(void) {
#ifdef __linux__
    return read_clock(CLOCK_MONOTONIC_COARSE);
#else
    return read_clock(CLOCK_MONOTONIC_RAW_APPROX);
#endif
}

int lls_processors(void) {
#ifdef __linux__
    cpu_set_t set;
    if (sched_getaffinity(0, sizeof set, &set) == 0) return CPU_COUNT(&set);
#endif
    long count = sysconf(_SC_NPROCESSORS_ONLN);
    return count < 1 ? 1 : (int)count;
}

void lls_complain(const char *text, size_t length) {
    // A reader of standard error that has gone must not end the process: the signal is held back and taken.
    sigset_t pipe_signal, before, waiting;
    sigemptyset(&pipe_signal);
    sigaddset(&pipe_signal, SIGPIPE);
    sigpending(&waiting);
    int was_pending = sigismember(&waiting, SIGPIPE);
    pthread_sigmask(SIG_BLOCK, &pipe_signal, &before);
    ssize_t written = write(STDERR_FILENO, text, length);
    if (written < 0 && errno == EPIPE && !was_pending) {
#ifdef __APPLE__
        int taken;
        sigwait(&pipe_signal, &taken);
#else
        struct timespec at_once = {0, 0};
        while (sigtimedwait(&pipe_signal, NULL, &at_once) < 0 && errno == EINTR) {
        }
#endif
    }
    pthread_sigmask(SIG_SETMASK, &before, NULL);
}

void lls_error_text(int number, char *text, size_t capacity) {
    char words[128];
#ifdef __GLIBC__
    snprintf(text, capacity, "%s", strerror_r(number, words, sizeof words));
#else
    if (strerror_r(number, words, sizeof words) != 0) snprintf(words, sizeof words, "error %d", number);
    snprintf(text, capacity, "%s", words);
#endif
}
