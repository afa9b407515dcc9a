// Connections that live for one frame: connect, send, check the echo, close, and again.

#define _GNU_SOURCE
#include "CLifelineBench.h"
#include "internal.h"

#include <errno.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

// Every close leaves a port in TIME_WAIT for a minute. 64 addresses with some 28,000 ports each are
// enough for 40,000 connections a second over 40 s, and a server's next run has another port.
enum { MOST = 64, PAYLOAD = 64, BUFFER = 4096, FIRST_SOURCE = 2, SOURCES = 64, PATIENCE_MS = 5000 };

struct churn {
    uint16_t port;
    unsigned at_once;
    unsigned open;
    uint64_t next_id;
    struct pollfd polls[MOST];
    struct llb_stream streams[MOST];
    uint64_t started[MOST];
    struct llb_frames frames;
    struct llb_histogram histogram;
};

/// The connection is there: its only frame goes out, and the echo is awaited.
static int on_connected(struct churn *churn, unsigned slot) {
    churn->polls[slot].events = POLLIN;
    int all = llb_frames_send(&churn->frames, &churn->streams[slot], churn->polls[slot].fd);
    if (all == 0) return llb_fail("connection %llu: no room for one frame", (unsigned long long)churn->streams[slot].id);
    return all < 0 ? -1 : 0;
}

static int open_slot(struct churn *churn, unsigned slot) {
    int one = 1;
    struct sockaddr_in server = llb_loopback(1, churn->port);
    struct sockaddr_in source = llb_loopback(FIRST_SOURCE + churn->next_id % SOURCES, 0);
    churn->started[slot] = llb_now();
    int fd = socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
    if (fd < 0) return llb_fail("socket: %s", strerror(errno));
    churn->polls[slot] = (struct pollfd){.fd = fd, .events = POLLOUT};
    churn->streams[slot] = (struct llb_stream){.id = churn->next_id++, .wanted = 1};
    churn->open++;
    // Without the option bind itself would take a port, one that no other connection may have.
    if (setsockopt(fd, IPPROTO_IP, IP_BIND_ADDRESS_NO_PORT, &one, sizeof one) < 0
        || bind(fd, (struct sockaddr *)&source, sizeof source) < 0) {
        return llb_fail("cannot bind a source address: %s", strerror(errno));
    }
    if (connect(fd, (struct sockaddr *)&server, sizeof server) == 0) return on_connected(churn, slot);
    if (errno == EINPROGRESS) return 0;
    return llb_fail("cannot connect to port %u: %s", (unsigned)churn->port, strerror(errno));
}

static void close_slot(struct churn *churn, unsigned slot) {
    close(churn->polls[slot].fd);
    churn->polls[slot].fd = -1;  // which poll passes over
    churn->open--;
}

static int on_writable(struct churn *churn, unsigned slot) {
    int error = 0;
    socklen_t length = sizeof error;
    getsockopt(churn->polls[slot].fd, SOL_SOCKET, SO_ERROR, &error, &length);
    if (error != 0) return llb_fail("cannot connect to port %u: %s", (unsigned)churn->port, strerror(error));
    return on_connected(churn, slot);
}

/// Returns 1 when the echo is complete.
static int on_readable(struct churn *churn, unsigned slot) {
    uint8_t buffer[BUFFER];
    struct llb_stream *stream = &churn->streams[slot];
    ssize_t count = recv(churn->polls[slot].fd, buffer, sizeof buffer, 0);
    if (count < 0 && (errno == EAGAIN || errno == EINTR)) return 0;
    if (count < 0) return llb_fail("connection %llu: receive: %s", (unsigned long long)stream->id, strerror(errno));
    if (count == 0) return llb_fail("connection %llu: the server closed it", (unsigned long long)stream->id);
    if (llb_frames_check(&churn->frames, stream, buffer, (size_t)count) < 0) return -1;
    return stream->received == 1;
}

/// Goes on until `end`; with 0, until the open connections are through.
static int run(struct churn *churn, uint64_t end) {
    while (end != 0 ? llb_now() < end : churn->open > 0) {
        int count = poll(churn->polls, churn->at_once, PATIENCE_MS);
        if (count == 0) return llb_fail("no connection went on for %d s", PATIENCE_MS / 1000);
        if (count < 0 && errno != EINTR) return llb_fail("poll: %s", strerror(errno));
        for (unsigned slot = 0; slot < churn->at_once && count > 0; slot++) {
            if (churn->polls[slot].revents == 0) continue;
            churn->polls[slot].revents = 0;
            count--;
            if (churn->polls[slot].events == POLLOUT) {
                if (on_writable(churn, slot) < 0) return -1;
                continue;
            }
            int done = on_readable(churn, slot);
            if (done < 0) return -1;
            if (done == 0) continue;
            llb_record(&churn->histogram, llb_now() - churn->started[slot], 1);
            close_slot(churn, slot);
            if (end != 0 && open_slot(churn, slot) < 0) return -1;
        }
    }
    return 0;
}

static int measure(struct churn *churn, const struct llb_churn_options *options, struct llb_load_result *result) {
    for (unsigned slot = 0; slot < churn->at_once; slot++) {
        if (open_slot(churn, slot) < 0) return -1;
    }
    if (run(churn, llb_now() + (uint64_t)(options->warm_up * 1e9)) < 0) return -1;
    memset(&churn->histogram, 0, sizeof churn->histogram);
    uint64_t start = llb_now();
    if (run(churn, start + (uint64_t)(options->seconds * 1e9)) < 0) return -1;
    llb_summarize(&churn->histogram, llb_now() - start, result);
    return run(churn, 0);
}

int llb_churn(const struct llb_churn_options *options, struct llb_load_result *result) {
    if (options->at_once == 0 || options->at_once > MOST) return llb_fail("1 to %d connections at once", MOST);
    static struct churn churn;
    memset(&churn, 0, sizeof churn);
    churn.port = options->port;
    churn.at_once = options->at_once;
    for (unsigned slot = 0; slot < MOST; slot++) churn.polls[slot].fd = -1;
    if (llb_frames_make(&churn.frames, PAYLOAD, 1) < 0) return -1;
    int status = measure(&churn, options, result);
    for (unsigned slot = 0; slot < MOST; slot++) {
        if (churn.polls[slot].fd >= 0) close(churn.polls[slot].fd);
    }
    free(churn.frames.bytes);
    return status;
}
