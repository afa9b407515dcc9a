// The limit: as little as an epoll echo server on one thread can do. It does not look for frames.

#define _GNU_SOURCE
#include "CLifelineBench.h"
#include "internal.h"

#include <errno.h>
#include <netinet/tcp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <unistd.h>

enum { BUFFER = 256 * 1024, EVENTS = 256, ACCEPTS = 64, BACKLOG = 4096 };

/// What a full socket did not take. Only a connection that has some of it owns memory.
struct rest {
    size_t start;
    size_t end;
    uint8_t bytes[];
};

struct server {
    int poll;
    int listener;
    size_t most;            // open files there can be
    struct rest **rests;    // by descriptor
    uint8_t *buffer;
};

static int watch(const struct server *server, int operation, int fd, uint32_t events) {
    struct epoll_event event = {.events = events, .data.fd = fd};
    return epoll_ctl(server->poll, operation, fd, &event);
}

static void drop(struct server *server, int fd) {
    free(server->rests[fd]);
    server->rests[fd] = NULL;
    close(fd);  // which also takes it out of the epoll set
}

static int accept_some(struct server *server) {
    // Bounded, so that a flood of connections cannot starve those that are there.
    for (int i = 0; i < ACCEPTS; i++) {
        int fd = accept4(server->listener, NULL, NULL, SOCK_NONBLOCK | SOCK_CLOEXEC);
        if (fd < 0) {
            if (errno == EAGAIN) return 0;
            if (errno == ECONNABORTED || errno == EINTR) continue;
            return llb_fail("raw server: accept: %s", strerror(errno));
        }
        if ((size_t)fd >= server->most || watch(server, EPOLL_CTL_ADD, fd, EPOLLIN) < 0) close(fd);
    }
    return 0;
}

/// Keeps what was not written. Until it is gone, nothing more is read: the peer has to wait.
static int keep(struct server *server, int fd, const uint8_t *bytes, size_t count) {
    struct rest *rest = malloc(sizeof *rest + count);
    if (rest == NULL) return -1;
    rest->start = 0;
    rest->end = count;
    memcpy(rest->bytes, bytes, count);
    server->rests[fd] = rest;
    return watch(server, EPOLL_CTL_MOD, fd, EPOLLOUT);
}

static void on_readable(struct server *server, int fd) {
    ssize_t count = recv(fd, server->buffer, BUFFER, 0);
    if (count < 0 && (errno == EAGAIN || errno == EINTR)) return;
    if (count <= 0) return drop(server, fd);
    ssize_t written = send(fd, server->buffer, (size_t)count, MSG_NOSIGNAL);
    if (written < 0) {
        if (errno != EAGAIN && errno != EINTR) return drop(server, fd);
        written = 0;
    }
    if (written < count && keep(server, fd, server->buffer + written, (size_t)(count - written)) < 0) drop(server, fd);
}

static void on_writable(struct server *server, int fd) {
    struct rest *rest = server->rests[fd];
    ssize_t written = send(fd, rest->bytes + rest->start, rest->end - rest->start, MSG_NOSIGNAL);
    if (written < 0) {
        if (errno != EAGAIN && errno != EINTR) drop(server, fd);
        return;
    }
    rest->start += (size_t)written;
    if (rest->start < rest->end) return;
    free(rest);
    server->rests[fd] = NULL;
    if (watch(server, EPOLL_CTL_MOD, fd, EPOLLIN) < 0) drop(server, fd);
}

static int run(struct server *server) {
    struct epoll_event events[EVENTS];
    for (;;) {
        int count = epoll_wait(server->poll, events, EVENTS, -1);
        if (count < 0 && errno != EINTR) return llb_fail("raw server: epoll_wait: %s", strerror(errno));
        for (int i = 0; i < count; i++) {
            int fd = events[i].data.fd;
            if (fd == server->listener) {
                if (accept_some(server) < 0) return -1;
            } else if (server->rests[fd] != NULL) {
                on_writable(server, fd);
            } else {
                on_readable(server, fd);  // errors and hang-ups come out of the read
            }
        }
    }
}

static int listen_anywhere(uint16_t *port) {
    int one = 1;
    struct sockaddr_in address = llb_loopback(1, 0);
    socklen_t length = sizeof address;
    int fd = socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
    // Accepted sockets inherit TCP_NODELAY, which saves a call for each.
    if (fd < 0 || setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &one, sizeof one) < 0
        || bind(fd, (struct sockaddr *)&address, sizeof address) < 0 || listen(fd, BACKLOG) < 0
        || getsockname(fd, (struct sockaddr *)&address, &length) < 0) {
        return llb_fail("raw server: listen: %s", strerror(errno));
    }
    *port = ntohs(address.sin_port);
    return fd;
}

int llb_raw_server(int report_fd) {
    struct rlimit files;
    uint16_t port = 0;
    if (getrlimit(RLIMIT_NOFILE, &files) < 0) return llb_fail("raw server: getrlimit: %s", strerror(errno));
    struct server server = {
        .poll = epoll_create1(EPOLL_CLOEXEC),
        .listener = listen_anywhere(&port),
        .most = files.rlim_cur < 1u << 20 ? files.rlim_cur : 1u << 20,
        .buffer = malloc(BUFFER),
    };
    if (server.listener < 0) return -1;
    // Zeroed memory costs nothing until a page of it is written.
    server.rests = calloc(server.most, sizeof *server.rests);
    if (server.poll < 0 || server.buffer == NULL || server.rests == NULL
        || watch(&server, EPOLL_CTL_ADD, server.listener, EPOLLIN) < 0) {
        return llb_fail("raw server: %s", strerror(errno));
    }
    if (dprintf(report_fd, "%u\n", (unsigned)port) < 0) return llb_fail("raw server: cannot report its port");
    return run(&server);
}
