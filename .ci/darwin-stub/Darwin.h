// What KqueuePoller.swift uses of Darwin, written by hand from its manual pages and public headers, so that Linux can check the file's
// types. It holds no more than that, and nothing checks it against Darwin itself.
#ifndef DARWIN_STUB_H
#define DARWIN_STUB_H

#include <stdint.h>
#include <time.h>  // `timespec`, which is the same there

struct kevent {
    uintptr_t ident;
    int16_t filter;
    uint16_t flags;
    uint32_t fflags;
    intptr_t data;
    void *udata;
};

int kqueue(void);
int kevent(int kq, const struct kevent *changelist, int nchanges, struct kevent *eventlist, int nevents,
    const struct timespec *timeout);
int close(int fd);
int fcntl(int fd, int command, ...);
int *__error(void);

#define EVFILT_READ (-1)
#define EVFILT_WRITE (-2)
#define EVFILT_USER (-10)
#define EV_ADD 0x0001
#define EV_DELETE 0x0002
#define EV_CLEAR 0x0020
#define EV_RECEIPT 0x0040
#define EV_EOF 0x8000
#define NOTE_TRIGGER 0x01000000
#define F_SETFD 2
#define FD_CLOEXEC 1
#define EINTR 4

#endif
