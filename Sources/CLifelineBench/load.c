// Frames over lasting connections, each with a fixed number of frames on the way.

#define _GNU_SOURCE
#include "CLifelineBench.h"
#include "internal.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <unistd.h>

enum { BUFFER = 256 * 1024, EVENTS = 64, PATIENCE_MS = 5000 };

struct connection {
    int fd;
    int watches_output;
    struct llb_stream stream;
    uint64_t *due;              // when each frame on the way was due, by its number & mask
};

struct load {
    int poll;
    int draining;               // the time is over: what is on the way comes back, nothing is added
    unsigned waiting;           // connections that have frames on the way
    uint64_t in_flight;
    uint64_t mask;
    uint8_t *buffer;
    struct connection *connections;
    struct llb_frames frames;
    struct llb_histogram histogram;
};

static int send_wanted(struct load *load, struct connection *connection) {
    int all = llb_frames_send(&load->frames, &connection->stream, connection->fd);
    if (all < 0) return -1;
    if (connection->watches_output == !all) return 0;
    connection->watches_output = !all;
    struct epoll_event event = {.events = all ? EPOLLIN : EPOLLIN | EPOLLOUT, .data.ptr = connection};
    if (epoll_ctl(load->poll, EPOLL_CTL_MOD, connection->fd, &event) < 0) {
        return llb_fail("epoll_ctl: %s", strerror(errno));
    }
    return 0;
}

/// Notes how long the frames up to `end` took, and when their successors became due.
static void account(struct load *load, struct connection *connection, uint64_t frame, uint64_t end) {
    uint64_t now = llb_now();
    uint64_t due = 0;
    uint64_t run = 0;   // frames sent together mostly come back together: they are noted as one
    for (; frame < end; frame++) {
        uint64_t *place = &connection->due[frame & load->mask];
        if (*place != due) {
            if (run > 0) llb_record(&load->histogram, now - due, run);
            due = *place;
            run = 0;
        }
        run++;
        connection->due[(frame + load->in_flight) & load->mask] = now;
    }
    if (run > 0) llb_record(&load->histogram, now - due, run);
}

static int on_readable(struct load *load, struct connection *connection) {
    struct llb_stream *stream = &connection->stream;
    ssize_t count = recv(connection->fd, load->buffer, BUFFER, 0);
    if (count < 0 && (errno == EAGAIN || errno == EINTR)) return 0;
    if (count < 0) return llb_fail("connection %llu: receive: %s", (unsigned long long)stream->id, strerror(errno));
    if (count == 0) return llb_fail("connection %llu: the server closed it", (unsigned long long)stream->id);
    uint64_t before = stream->received;
    if (llb_frames_check(&load->frames, stream, load->buffer, (size_t)count) < 0) return -1;
    if (stream->received == before) return 0;
    if (load->draining) {
        if (stream->received == stream->wanted) load->waiting--;
        return 0;
    }
    account(load, connection, before, stream->received);
    stream->wanted = stream->received + load->in_flight;
    // While the socket is full, the readiness to write sends it.
    return connection->watches_output ? 0 : send_wanted(load, connection);
}

/// Goes on until `end`; with 0, until nothing is on the way.
static int run(struct load *load, uint64_t end) {
    struct epoll_event events[EVENTS];
    while (end != 0 ? llb_now() < end : load->waiting > 0) {
        int count = epoll_wait(load->poll, events, EVENTS, PATIENCE_MS);
        if (count == 0) return llb_fail("no byte came back for %d s", PATIENCE_MS / 1000);
        if (count < 0 && errno != EINTR) return llb_fail("epoll_wait: %s", strerror(errno));
        for (int i = 0; i < count; i++) {
            struct connection *connection = events[i].data.ptr;
            if ((events[i].events & EPOLLOUT) != 0 && send_wanted(load, connection) < 0) return -1;
            if ((events[i].events & ~(uint32_t)EPOLLOUT) != 0 && on_readable(load, connection) < 0) return -1;
        }
    }
    return 0;
}

static int open_all(struct load *load, const struct llb_load_options *options) {
    for (unsigned i = 0; i < options->connections; i++) {
        struct connection *connection = &load->connections[i];
        connection->fd = llb_connect(options->port);
        connection->stream.id = i;
        connection->due = malloc((load->mask + 1) * sizeof *connection->due);
        if (connection->fd < 0) return -1;
        struct epoll_event event = {.events = EPOLLIN, .data.ptr = connection};
        if (connection->due == NULL || fcntl(connection->fd, F_SETFL, O_NONBLOCK) < 0
            || epoll_ctl(load->poll, EPOLL_CTL_ADD, connection->fd, &event) < 0) {
            return llb_fail("connection %u: %s", i, strerror(errno));
        }
    }
    return 0;
}

static int start_all(struct load *load, unsigned connections) {
    for (unsigned i = 0; i < connections; i++) {
        struct connection *connection = &load->connections[i];
        uint64_t now = llb_now();
        for (uint64_t frame = 0; frame < load->in_flight; frame++) connection->due[frame] = now;
        connection->stream.wanted = load->in_flight;
        if (send_wanted(load, connection) < 0) return -1;
    }
    return 0;
}

static int measure(struct load *load, const struct llb_load_options *options, struct llb_load_result *result) {
    if (open_all(load, options) < 0 || start_all(load, options->connections) < 0) return -1;
    if (run(load, llb_now() + (uint64_t)(options->warm_up * 1e9)) < 0) return -1;
    memset(&load->histogram, 0, sizeof load->histogram);
    uint64_t start = llb_now();
    if (run(load, start + (uint64_t)(options->seconds * 1e9)) < 0) return -1;
    llb_summarize(&load->histogram, llb_now() - start, result);
    load->draining = 1;
    for (unsigned i = 0; i < options->connections; i++) {
        load->waiting += load->connections[i].stream.received < load->connections[i].stream.wanted;
    }
    return run(load, 0);
}

int llb_load(const struct llb_load_options *options, struct llb_load_result *result) {
    if (options->connections == 0 || options->in_flight == 0) return llb_fail("nothing to send");
    // Static, as it is large; so there is one load at a time in a process.
    static struct load load;
    memset(&load, 0, sizeof load);
    load.in_flight = options->in_flight;
    for (load.mask = 1; load.mask < load.in_flight; load.mask *= 2) {}
    load.mask -= 1;
    load.poll = epoll_create1(EPOLL_CLOEXEC);
    load.buffer = malloc(BUFFER);
    load.connections = calloc(options->connections, sizeof *load.connections);
    if (load.poll < 0 || load.buffer == NULL || load.connections == NULL) return llb_fail("load: %s", strerror(errno));
    int status = llb_frames_make(&load.frames, options->payload, options->in_flight);
    if (status == 0) status = measure(&load, options, result);
    for (unsigned i = 0; i < options->connections; i++) {
        if (load.connections[i].fd > 0) close(load.connections[i].fd);
        free(load.connections[i].due);
    }
    close(load.poll);
    free(load.frames.bytes);
    free(load.connections);
    free(load.buffer);
    return status;
}
