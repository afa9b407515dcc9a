// Small things every part of the load needs.

#define _GNU_SOURCE
#include "CLifelineBench.h"
#include "internal.h"

#include <errno.h>
#include <netinet/tcp.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

int llb_fail(const char *format, ...) {
    char text[256];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    dprintf(STDERR_FILENO, "lifeline-bench: %s\n", text);
    return -1;
}

int llb_connect(uint16_t port) {
    int one = 1;
    struct sockaddr_in server = llb_loopback(1, port);
    int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (fd < 0) return llb_fail("socket: %s", strerror(errno));
    if (connect(fd, (struct sockaddr *)&server, sizeof server) < 0
        || setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &one, sizeof one) < 0) {
        llb_fail("cannot connect to port %u: %s", (unsigned)port, strerror(errno));
        close(fd);
        return -1;
    }
    return fd;
}

double llb_percentile(const struct llb_histogram *histogram, double share) {
    uint64_t seen = 0;
    uint64_t rank = (uint64_t)(share * (double)histogram->total);
    for (size_t bucket = 0; bucket < LLB_BUCKETS; bucket++) {
        seen += histogram->buckets[bucket];
        if (seen <= rank) continue;
        if (bucket < LLB_SPLIT) return (double)bucket / 1000.0;
        size_t shift = bucket / LLB_SPLIT - 1;
        double low = (double)((uint64_t)(bucket - shift * LLB_SPLIT) << shift);
        return (low + (double)((uint64_t)1 << shift) / 2.0) / 1000.0;
    }
    return 0;
}

void llb_summarize(const struct llb_histogram *histogram, uint64_t nanoseconds, struct llb_load_result *result) {
    result->frames = histogram->total;
    result->seconds = (double)nanoseconds / 1e9;
    result->rate = (double)result->frames / result->seconds;
    result->p50us = llb_percentile(histogram, 0.50);
    result->p99us = llb_percentile(histogram, 0.99);
    result->p999us = llb_percentile(histogram, 0.999);
}
