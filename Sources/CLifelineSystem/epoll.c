// epoll and eventfd.

#ifdef __linux__

#define _GNU_SOURCE
#include "CLifelineSystem.h"

#include <errno.h>
#include <stdatomic.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <time.h>
#include <unistd.h>

enum { MOST_EVENTS = 256 };

int lls_epoll_create(void) {
    int fd = epoll_create1(EPOLL_CLOEXEC);
    return fd < 0 ? -errno : fd;
}

static int add(int epoll, int fd, uint64_t token, uint32_t events) {
    struct epoll_event event = {.events = events | EPOLLET, .data.u64 = token};
    return epoll_ctl(epoll, EPOLL_CTL_ADD, fd, &event) < 0 ? -errno : 0;
}

int lls_epoll_add_stream(int epoll, int fd, uint64_t token) {
    return add(epoll, fd, token, EPOLLIN | EPOLLOUT | EPOLLRDHUP | EPOLLPRI);
}

int lls_epoll_add_input(int epoll, int fd, uint64_t token) {
    return add(epoll, fd, token, EPOLLIN);
}

int lls_epoll_remove(int epoll, int fd) {
    struct epoll_event unused = {0};
    return epoll_ctl(epoll, EPOLL_CTL_DEL, fd, &unused) < 0 ? -errno : 0;
}

/// A wait with a limit, as exact as the kernel offers.
static int wait_limited(int epoll, struct epoll_event *events, int capacity, int64_t nanoseconds) {
    static _Atomic int is_exact = 1;
#if defined(__GLIBC__) && (__GLIBC__ > 2 || __GLIBC_MINOR__ >= 35)
    if (atomic_load_explicit(&is_exact, memory_order_relaxed)) {
        struct timespec limit = {.tv_sec = nanoseconds / 1000000000, .tv_nsec = nanoseconds % 1000000000};
        int count = epoll_pwait2(epoll, events, capacity, &limit, NULL);
        // Kernels before 5.11 don't know it, and filters of system calls may refuse it.
        if (count >= 0 || (errno != ENOSYS && errno != EPERM)) return count;
        atomic_store_explicit(&is_exact, 0, memory_order_relaxed);
    }
#else
    (void)is_exact;
#endif
    int64_t milliseconds = (nanoseconds + 999999) / 1000000;  // rounded up, or the loop would spin through the rest
    return epoll_wait(epoll, events, capacity, milliseconds > 3600000 ? 3600000 : (int)milliseconds);
}

int lls_epoll_wait(int epoll, lls_event *events, int capacity, int64_t nanoseconds) {
    struct epoll_event found[MOST_EVENTS];
    if (capacity > MOST_EVENTS) capacity = MOST_EVENTS;
    int count = nanoseconds > 0 ? wait_limited(epoll, found, capacity, nanoseconds)
                                : epoll_wait(epoll, found, capacity, nanoseconds < 0 ? -1 : 0);
    if (count < 0) return errno == EINTR ? 0 : -errno;
    for (int i = 0; i < count; i++) {
        uint32_t set = found[i].events;
        events[i].token = found[i].data.u64;
        events[i].events = (set & EPOLLIN ? LLS_READABLE : 0u) | (set & EPOLLOUT ? LLS_WRITABLE : 0u)
            | (set & (EPOLLRDHUP | EPOLLHUP | EPOLLERR) ? LLS_HANG_UP : 0u) | (set & EPOLLPRI ? LLS_URGENT : 0u);
    }
    return count;
}

int lls_eventfd(void) {
    int fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    return fd < 0 ? -errno : fd;
}

int lls_eventfd_signal(int fd) {
    // Watched edge-triggered and never read: each write is an edge. The count would take centuries to overflow.
    uint64_t one = 1;
    ssize_t written;
    do {
        written = write(fd, &one, sizeof one);
    } while (written < 0 && errno == EINTR);
    return written < 0 ? -errno : 0;
}

#endif
