// What the C files of the benchmark share.

#ifndef LLB_INTERNAL_H
#define LLB_INTERNAL_H

#include <netinet/in.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>
#include <time.h>

/// Says on standard error what went wrong; returns -1 for the caller to hand on.
int llb_fail(const char *format, ...) __attribute__((format(printf, 1, 2)));

/// The monotonic clock, in nanoseconds.
static inline uint64_t llb_now(void) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

/// 127.0.0.`last`, with a port.
static inline struct sockaddr_in llb_loopback(unsigned last, uint16_t port) {
    return (struct sockaddr_in){
        .sin_family = AF_INET,
        .sin_port = htons(port),
        .sin_addr.s_addr = htonl(0x7f000000u | last),
    };
}

/// A connected socket, still blocking, without Nagle's algorithm; or -1.
int llb_connect(uint16_t port);

// MARK: Histogram

// Each power of two is split into 64 buckets, so the middle of a bucket is within 1 % of all in it.
enum { LLB_SPLIT_BITS = 6, LLB_SPLIT = 1 << LLB_SPLIT_BITS, LLB_BUCKETS = (64 - LLB_SPLIT_BITS + 1) * LLB_SPLIT };

struct llb_histogram {
    uint64_t total;
    uint64_t buckets[LLB_BUCKETS];
};

static inline void llb_record(struct llb_histogram *histogram, uint64_t nanoseconds, uint64_t times) {
    size_t bucket = nanoseconds;
    if (nanoseconds >= LLB_SPLIT) {
        unsigned shift = 63u - (unsigned)__builtin_clzll(nanoseconds) - LLB_SPLIT_BITS;
        bucket = shift * LLB_SPLIT + (size_t)(nanoseconds >> shift);
    }
    histogram->buckets[bucket] += times;
    histogram->total += times;
}

/// The value that `share` (0...1) of all records do not exceed, in microseconds.
double llb_percentile(const struct llb_histogram *histogram, double share);

// MARK: Frames

/// The shape all frames of a run have, and a batch of them ready to go: only counters change.
struct llb_frames {
    size_t payload;
    size_t length;      // payload and its 4-byte prefix
    size_t head;        // bytes before the fixed pattern: prefix, and the counter if it fits
    size_t batch;       // frames in `bytes`
    uint8_t *bytes;
};

/// One connection's place in the two endless streams of frames it sends and gets back.
/// As frame n is known from n alone, nothing sent has to be kept for checking or for sending again.
struct llb_stream {
    uint64_t id;            // told apart in the counter, so that mixed-up connections show
    uint64_t sent;          // whole frames given to the system
    size_t sent_part;       // bytes of the next one
    uint64_t wanted;        // whole frames that should be
    uint64_t received;      // whole frames checked
    size_t received_part;   // bytes of the next one
};

int llb_frames_make(struct llb_frames *frames, size_t payload, size_t in_flight);

/// Sends what the stream wants sent. Returns 1 when all went, 0 when the socket is full, -1 on failure.
int llb_frames_send(struct llb_frames *frames, struct llb_stream *stream, int socket);

/// Checks the next bytes that came back, and moves the stream on.
int llb_frames_check(const struct llb_frames *frames, struct llb_stream *stream, const uint8_t *bytes, size_t count);

/// Fills in the figures from a histogram.
struct llb_load_result;
void llb_summarize(const struct llb_histogram *histogram, uint64_t nanoseconds, struct llb_load_result *result);

// MARK: The server, from outside

/// Open files of a process, or -1.
int llb_open_files(pid_t process);

#endif
