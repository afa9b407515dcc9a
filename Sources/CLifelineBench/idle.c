// What a connection costs the server while nothing happens on it.

#define _GNU_SOURCE
#include "CLifelineBench.h"
#include "internal.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <unistd.h>

// Few enough between two looks at the server that no backlog overflows.
enum { PAYLOAD = 64, AT_A_TIME = 64, PATIENCE_MS = 5000, SETTLE_MS = 100 };

struct idle {
    uint16_t port;
    pid_t server;
    int base;                   // the server's open files without our connections
    unsigned open;
    int *sockets;
    struct llb_frames frames;
};

static void pause_ms(long milliseconds) {
    struct timespec time = {.tv_sec = milliseconds / 1000, .tv_nsec = milliseconds % 1000 * 1000000};
    nanosleep(&time, NULL);
}

/// A completed connect only says that the kernel took the connection: a server that has accepted it
/// has a descriptor for it.
static int await_server(const struct idle *idle) {
    int expected = idle->base + (int)idle->open;
    int files = -1;
    for (int waited = 0; waited < PATIENCE_MS; waited++) {
        files = llb_open_files(idle->server);
        if (files < 0) return llb_fail("cannot count the server's open files: %s", strerror(errno));
        if (files == expected) return 0;
        pause_ms(1);
    }
    return llb_fail("the server has %d files open where %d should be", files, expected);
}

static int open_connections(struct idle *idle, unsigned count) {
    struct timeval patience = {.tv_sec = PATIENCE_MS / 1000};
    while (idle->open < count) {
        int fd = llb_connect(idle->port);
        if (fd < 0) return -1;
        idle->sockets[idle->open++] = fd;
        if (setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof patience) < 0) {
            return llb_fail("setsockopt: %s", strerror(errno));
        }
        if (idle->open % AT_A_TIME == 0 && await_server(idle) < 0) return -1;
    }
    return await_server(idle);
}

static void close_connections(struct idle *idle) {
    while (idle->open > 0) close(idle->sockets[--idle->open]);
}

static int echo_each(struct idle *idle) {
    uint8_t buffer[4096];
    for (unsigned i = 0; i < idle->open; i++) {
        struct llb_stream stream = {.id = i, .wanted = 1};
        if (llb_frames_send(&idle->frames, &stream, idle->sockets[i]) != 1) return llb_fail("connection %u: send", i);
        while (stream.received == 0) {
            ssize_t count = recv(idle->sockets[i], buffer, sizeof buffer, 0);
            if (count < 0 && errno == EINTR) continue;
            if (count < 0) return llb_fail("connection %u: receive: %s", i, strerror(errno));
            if (count == 0) return llb_fail("connection %u: the server closed it", i);
            if (llb_frames_check(&idle->frames, &stream, buffer, (size_t)count) < 0) return -1;
        }
    }
    return 0;
}

/// The server's memory once it stays the same, or after some seconds anyway.
static int64_t settled_bytes(pid_t server) {
    int64_t last = -1;
    for (int waited = 0; waited < PATIENCE_MS; waited += SETTLE_MS) {
        int64_t bytes = llb_anonymous_bytes(server);
        if (bytes < 0) return llb_fail("cannot read the server's memory: %s", strerror(errno));
        if (bytes == last) break;
        last = bytes;
        pause_ms(SETTLE_MS);
    }
    return last;
}

static int measure(struct idle *idle, const struct llb_idle_options *options, struct llb_idle_result *result) {
    // The warm-up does all the measured connections will do, so that what is made once is there.
    if (open_connections(idle, options->warm_up) < 0 || echo_each(idle) < 0) return -1;
    close_connections(idle);
    if (await_server(idle) < 0) return -1;
    int64_t before = settled_bytes(idle->server);
    if (before < 0 || open_connections(idle, options->connections) < 0) return -1;
    int64_t fresh = settled_bytes(idle->server);
    if (fresh < 0 || echo_each(idle) < 0) return -1;
    int64_t after = settled_bytes(idle->server);
    if (after < 0) return -1;
    result->fresh = (double)(fresh - before) / options->connections;
    result->after_echo = (double)(after - before) / options->connections;
    return 0;
}

int llb_idle(const struct llb_idle_options *options, struct llb_idle_result *result) {
    if (options->connections == 0) return llb_fail("no connections to hold");
    unsigned most = options->connections > options->warm_up ? options->connections : options->warm_up;
    struct idle idle = {
        .port = options->port,
        .server = options->server,
        .base = llb_open_files(options->server),
        .sockets = malloc(most * sizeof *idle.sockets),
    };
    if (idle.base < 0 || idle.sockets == NULL) return llb_fail("idle: %s", strerror(errno));
    int status = llb_frames_make(&idle.frames, PAYLOAD, 1);
    if (status == 0) status = measure(&idle, options, result);
    close_connections(&idle);
    free(idle.frames.bytes);
    free(idle.sockets);
    return status;
}
