// What LifelineSockets needs of the system and Swift's view of the C library doesn't offer.
//
// Unless said otherwise a function returns a value of at least 0, or a negated error number. Interrupted calls are tried again, except
// for `close`, whose descriptor is gone all the same. No feature macro is defined here: this header is read by Swift's importer, too.

#ifndef C_LIFELINE_SYSTEM_H
#define C_LIFELINE_SYSTEM_H

#include <stddef.h>
#include <stdint.h>
#include <sys/socket.h>
#include <sys/types.h>
#include <sys/uio.h>

// MARK: Addresses (addresses.c)

typedef struct {
    struct sockaddr_storage storage;
    socklen_t length;
} lls_address;

enum { LLS_OTHER = 0, LLS_V4 = 1, LLS_V6 = 2, LLS_UNIX = 3 };

/// An internet address; of an IPv4 address the bytes are the first four of `high`.
typedef struct {
    uint64_t high;
    uint64_t low;
    uint32_t zone;
    uint16_t port;
    uint8_t family;
} lls_ip;

/// One of `LLS_…`; for internet addresses `ip` is set.
int lls_read_address(const lls_address *address, lls_ip *ip);
void lls_make_address(const lls_ip *ip, lls_address *address);
/// -ENAMETOOLONG if the path doesn't fit with its final zero.
int lls_make_unix_address(const char *path, size_t length, lls_address *address);
/// The longest path.
size_t lls_unix_path_limit(void);
/// The path's length; 0 for a socket without a name.
size_t lls_unix_path(const lls_address *address, char *path, size_t capacity);
/// 1 if `text` is an address, 0 if it isn't, -ENODEV if its zone isn't known.
int lls_parse_ip(const char *text, lls_ip *ip);
void lls_format_ip(const lls_ip *ip, char *text, size_t capacity);
/// Blocks. The number of addresses found, or -1 with `EAI_…` in `code` and, for EAI_SYSTEM, the error number in `system`.
int lls_resolve(const char *host, lls_ip *found, int capacity, int *code, int *system);
const char *lls_resolver_text(int code);

// MARK: Sockets (sockets.c)

enum { LLS_RECEIVE_MORE = 1 };

/// A stream socket that doesn't block and isn't inherited by other programs.
int lls_socket(int family);
/// -EINPROGRESS while it goes on.
int lls_connect(int fd, const lls_address *address);
int lls_bind(int fd, const lls_address *address);
int lls_listen(int fd, int backlog);
int lls_accept(int fd, lls_address *peer);
ssize_t lls_receive(int fd, void *buffer, size_t capacity);
/// For Unix sockets: a peer that passes descriptors makes short reads with bytes left behind; `LLS_RECEIVE_MORE` in `flags` tells.
/// The descriptors are closed by the kernel.
ssize_t lls_receive_unix(int fd, void *buffer, size_t capacity, int *flags);
/// Never raises SIGPIPE.
ssize_t lls_send(int fd, const void *bytes, size_t count);
/// Never raises SIGPIPE.
ssize_t lls_send_regions(int fd, const struct iovec *regions, size_t count);
int lls_shutdown_writes(int fd);
/// Not tried again: the descriptor is gone in any case.
int lls_close(int fd);
int lls_local_address(int fd, lls_address *address);
int lls_peer_address(int fd, lls_address *address);
/// The error number that the socket holds, not negated; taken by asking.
int lls_pending_error(int fd);
/// Whether `fd` is a connected stream socket of a family that is known (`LLS_…`), or -EPROTOTYPE, -ENOTSOCK, -ENOTCONN ….
int lls_check_connected_stream(int fd);
/// Makes the open file not block; whether it did before.
int lls_set_nonblocking(int fd, int on);

// MARK: Settings (options.c)

int lls_set_no_delay(int fd);
int lls_set_keep_alive(int fd, int idle, int interval, int count);
int lls_set_user_timeout(int fd, unsigned milliseconds);
int lls_set_interface(int fd, const char *name);
int lls_set_send_buffer(int fd, int bytes);
int lls_set_receive_buffer(int fd, int bytes);
int lls_set_reuse_address(int fd);
int lls_set_reuse_port(int fd);
int lls_set_v6_only(int fd, int on);
/// `close` will send a reset.
int lls_set_reset_on_close(int fd);

typedef struct {
    uint32_t round_trip_us;
    uint32_t round_trip_variation_us;
    uint32_t retransmits;
    uint32_t unacknowledged;
} lls_tcp_facts;

int lls_tcp_info(int fd, lls_tcp_facts *facts);

// MARK: Files (files.c)

typedef struct {
    uint64_t device;
    uint64_t inode;
    int is_socket;
} lls_file;

/// What stands at `path`, without following a link.
int lls_file_at(const char *path, lls_file *file);
int lls_remove_file(const char *path);

// MARK: Threads and time (threads.c)

/// Starts a thread that nobody joins.
int lls_start_thread(const char *name, void (*body)(void *), void *context);
/// The event loop whose thread this is.
void *lls_current_loop(void);
void lls_set_current_loop(void *loop);
/// A clock that never goes back, in nanoseconds.
int64_t lls_now(void);
/// The same clock as of the system's last tick: some milliseconds old, and cheaper.
int64_t lls_coarse_now(void);
/// How many processors this process may use.
int lls_processors(void);
/// Writes to standard error, without raising SIGPIPE.
void lls_complain(const char *text, size_t length);
void lls_error_text(int number, char *text, size_t capacity);

// MARK: Polling (epoll.c)

enum { LLS_READABLE = 1, LLS_WRITABLE = 2, LLS_HANG_UP = 4, LLS_URGENT = 8 };

#ifdef __linux__

typedef struct {
    uint64_t token;
    uint32_t events;
} lls_event;

int lls_epoll_create(void);
/// Edge-triggered, for everything a stream can report.
int lls_epoll_add_stream(int epoll, int fd, uint64_t token);
/// Edge-triggered, for input only.
int lls_epoll_add_input(int epoll, int fd, uint64_t token);
int lls_epoll_remove(int epoll, int fd);
/// Waits for `nanoseconds`, for ever if negative. An interrupted wait reports nothing.
int lls_epoll_wait(int epoll, lls_event *events, int capacity, int64_t nanoseconds);
int lls_eventfd(void);
int lls_eventfd_signal(int fd);

#endif

#endif
