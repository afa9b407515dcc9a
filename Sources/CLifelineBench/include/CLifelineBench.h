// The C half of lifeline-bench: the server every other server is measured against, the load that
// measures them, and the few process calls that are awkward or impossible from Swift.
//
// Functions that can fail say why on standard error and return -1.

#ifndef C_LIFELINE_BENCH_H
#define C_LIFELINE_BENCH_H

#include <stdint.h>
#include <sys/types.h>

/// Runs a raw epoll echo server on 127.0.0.1 until the process ends.
/// Writes the chosen port as a decimal line to `report_fd` once it listens.
int llb_raw_server(int report_fd);

/// How to load an echo server with frames: a 4-byte big-endian length, then the payload.
struct llb_load_options {
    uint16_t port;          // on 127.0.0.1
    unsigned connections;
    unsigned payload;       // bytes in each frame, without the length
    unsigned in_flight;     // frames each connection keeps on the way
    double warm_up;         // seconds that are not counted
    double seconds;         // seconds that are
};

/// How to load a server with connections that live for one 64-byte frame each.
struct llb_churn_options {
    uint16_t port;          // on 127.0.0.1
    unsigned at_once;       // connections kept going
    double warm_up;
    double seconds;
};

/// What a load measured. For churn a "frame" is a whole connection, from connect to its echo.
struct llb_load_result {
    uint64_t frames;
    double seconds;
    double rate;            // frames per second
    double p50us;
    double p99us;
    double p999us;
};

/// How to measure what idle connections cost the server.
struct llb_idle_options {
    uint16_t port;          // on 127.0.0.1
    pid_t server;           // whose memory is read
    unsigned warm_up;       // connections opened, used and closed before the first reading
    unsigned connections;
};

/// Growth of the server's anonymous memory, in bytes per connection.
struct llb_idle_result {
    double fresh;           // accepted, and nothing was ever sent
    double after_echo;      // after one 64-byte frame went there and back on each
};

int llb_load(const struct llb_load_options *options, struct llb_load_result *result);
int llb_churn(const struct llb_churn_options *options, struct llb_load_result *result);
int llb_idle(const struct llb_idle_options *options, struct llb_idle_result *result);

/// The nth core this process may run on, or -1 when there are not so many.
int llb_core(int nth);

/// Raises the limit of open files to what the system allows at most.
int llb_raise_open_files(void);

/// Runs this very program again with `arguments` (NULL-terminated, the first is its name), on one
/// core if `core` is not negative. The child ends when its parent does, and by itself after `limit`
/// seconds. Its standard output arrives on `*output`. Returns its process id.
/// Call it from the main thread: the child is tied to the life of the thread that started it.
pid_t llb_spawn(char *const arguments[], int core, unsigned limit, int *output);

/// Seconds of processor time `process` has used, or -1.
double llb_processor_seconds(pid_t process);

/// Bytes of anonymous memory that `process` has, or -1.
int64_t llb_anonymous_bytes(pid_t process);

/// Puts the calling thread, and what it starts, into a network of its own with a loopback interface and nothing else, with a congestion
/// control for TCP unless that is NULL. Returns -1, and has changed nothing, if any of it isn't permitted. Where it takes users of its
/// own, it works only while the process has one thread.
int llb_enter_own_network(const char *congestion_control);

/// Lets the calling thread, and what it starts, take a core without taking it away from others when it wakes up; -1 if it has a
/// scheduling policy other than the usual one already.
int llb_schedule_in_batches(void);

/// Seconds of processor time the calling thread has used, or -1.
double llb_thread_seconds(void);

/// Where `needle` begins in `haystack`, by `memchr` or `memmem`; -1 if nowhere.
ssize_t llb_search(const void *haystack, size_t count, const void *needle, size_t needle_count);

#endif
