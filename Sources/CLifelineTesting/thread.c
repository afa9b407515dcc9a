#define _GNU_SOURCE
#include "CLifelineTesting.h"

#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <time.h>

static _Thread_local void *thread_owner;

void *lifeline_thread_owner(void) { return thread_owner; }

void lifeline_thread_set_owner(void *owner) { thread_owner = owner; }

struct start {
    void (*body)(void *context);
    void *context;
};

static void *thread_main(void *argument) {
    struct start start = *(struct start *)argument;
    free(argument);
    start.body(start.context);
    return NULL;
}

bool lifeline_thread_start(void (*body)(void *context), void *context) {
    struct start *start = malloc(sizeof *start);
    if (!start) return false;
    *start = (struct start){body, context};
    pthread_attr_t attributes;
    pthread_attr_init(&attributes);
    pthread_attr_setdetachstate(&attributes, PTHREAD_CREATE_DETACHED);
    pthread_t thread;
    int error = pthread_create(&thread, &attributes, thread_main, start);
    pthread_attr_destroy(&attributes);
    if (error) free(start);
    return error == 0;
}

struct lifeline_gate {
    pthread_mutex_t lock;
    pthread_cond_t opened;
    bool open;
};

lifeline_gate *lifeline_gate_create(void) {
    lifeline_gate *gate = calloc(1, sizeof *gate);
    if (!gate) abort();
    pthread_mutex_init(&gate->lock, NULL);
    pthread_cond_init(&gate->opened, NULL);
    return gate;
}

void lifeline_gate_destroy(lifeline_gate *gate) {
    pthread_cond_destroy(&gate->opened);
    pthread_mutex_destroy(&gate->lock);
    free(gate);
}

void lifeline_gate_open(lifeline_gate *gate) {
    pthread_mutex_lock(&gate->lock);
    gate->open = true;
    pthread_cond_signal(&gate->opened);
    pthread_mutex_unlock(&gate->lock);
}

bool lifeline_gate_wait(lifeline_gate *gate, int64_t milliseconds) {
    struct timespec until;
    clock_gettime(CLOCK_REALTIME, &until);
    int64_t nanoseconds = until.tv_nsec + milliseconds % 1000 * 1000000;
    until.tv_sec += (time_t)(milliseconds / 1000 + nanoseconds / 1000000000);
    until.tv_nsec = (long)(nanoseconds % 1000000000);
    pthread_mutex_lock(&gate->lock);
    while (!gate->open) {
        if (pthread_cond_timedwait(&gate->opened, &gate->lock, &until) == ETIMEDOUT) break;
    }
    bool opened = gate->open;
    gate->open = false;
    pthread_mutex_unlock(&gate->lock);
    return opened;
}
