// Stream sockets: made, connected, accepted, read, written and closed, without a signal on any path.

#define _GNU_SOURCE
#include "CLifelineSystem.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#ifdef __APPLE__
enum { NO_SIGNAL = 0 };

/// Darwin has neither the flags of `socket` nor MSG_NOSIGNAL: each socket is prepared by itself.
static int prepare(int fd) {
    int on = 1;
    int flags = fcntl(fd, F_GETFL);
    if (fcntl(fd, F_SETFD, FD_CLOEXEC) < 0 || flags < 0 || fcntl(fd, F_SETFL, flags | O_NONBLOCK) < 0
        || setsockopt(fd, SOL_SOCKET, SO_NOSIGPIPE, &on, sizeof on) < 0) {
        int error = errno;
        close(fd);
        return -error;
    }
    return fd;
}
#else
enum { NO_SIGNAL = MSG_NOSIGNAL };
#endif

#define RETRYING(type, call) \
    do { \
        type result; \
        do { \
            result = (call); \
        } while (result < 0 && errno == EINTR); \
        return result < 0 ? (type)-errno : result; \
    } while (0)

int lls_socket(int family) {
    int domain = family == LLS_V4 ? AF_INET : family == LLS_V6 ? AF_INET6 : AF_UNIX;
#ifdef __APPLE__
    int fd = socket(domain, SOCK_STREAM, 0);
    return fd < 0 ? -errno : prepare(fd);
#else
    int fd = socket(domain, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
    return fd < 0 ? -errno : fd;
#endif
}

int lls_connect(int fd, const lls_address *address) {
    if (connect(fd, (const struct sockaddr *)&address->storage, address->length) == 0) return 0;
    // An interrupted connect goes on by itself; a second call would be a mistake.
    return errno == EINTR ? -EINPROGRESS : -errno;
}

int lls_bind(int fd, const lls_address *address) {
    return bind(fd, (const struct sockaddr *)&address->storage, address->length) < 0 ? -errno : 0;
}

int lls_listen(int fd, int backlog) {
    return listen(fd, backlog) < 0 ? -errno : 0;
}

int lls_accept(int fd, lls_address *peer) {
    int accepted;
    do {
        peer->length = sizeof peer->storage;
#ifdef __APPLE__
        accepted = accept(fd, (struct sockaddr *)&peer->storage, &peer->length);
#else
        accepted = accept4(fd, (struct sockaddr *)&peer->storage, &peer->length, SOCK_NONBLOCK | SOCK_CLOEXEC);
#endif
    } while (accepted < 0 && errno == EINTR);
    if (accepted < 0) return -errno;
#ifdef __APPLE__
    return prepare(accepted);
#else
    return accepted;
#endif
}

ssize_t lls_receive(int fd, void *buffer, size_t capacity) {
    RETRYING(ssize_t, recv(fd, buffer, capacity, 0));
}

ssize_t lls_receive_unix(int fd, void *buffer, size_t capacity, int *flags) {
    struct iovec region = {.iov_base = buffer, .iov_len = capacity};
    struct msghdr message = {.msg_iov = &region, .msg_iovlen = 1};
    ssize_t count;
    do {
        count = recvmsg(fd, &message, 0);
    } while (count < 0 && errno == EINTR);
    if (count < 0) return -errno;
    *flags = message.msg_flags & MSG_CTRUNC ? LLS_RECEIVE_MORE : 0;
    return count;
}

ssize_t lls_send(int fd, const void *bytes, size_t count) {
    RETRYING(ssize_t, send(fd, bytes, count, NO_SIGNAL));
}

ssize_t lls_send_regions(int fd, const struct iovec *regions, size_t count) {
    struct msghdr message = {.msg_iov = (struct iovec *)regions, .msg_iovlen = count};
    RETRYING(ssize_t, sendmsg(fd, &message, NO_SIGNAL));
}

int lls_shutdown_writes(int fd) {
    return shutdown(fd, SHUT_WR) < 0 ? -errno : 0;
}

int lls_close(int fd) {
    return close(fd) < 0 ? -errno : 0;
}

int lls_local_address(int fd, lls_address *address) {
    address->length = sizeof address->storage;
    return getsockname(fd, (struct sockaddr *)&address->storage, &address->length) < 0 ? -errno : 0;
}

int lls_peer_address(int fd, lls_address *address) {
    address->length = sizeof address->storage;
    return getpeername(fd, (struct sockaddr *)&address->storage, &address->length) < 0 ? -errno : 0;
}

int lls_pending_error(int fd) {
    int error = 0;
    socklen_t length = sizeof error;
    return getsockopt(fd, SOL_SOCKET, SO_ERROR, &error, &length) < 0 ? errno : error;
}

int lls_check_connected_stream(int fd) {
    int type = 0;
    socklen_t length = sizeof type;
    if (getsockopt(fd, SOL_SOCKET, SO_TYPE, &type, &length) < 0) return -errno;
    if (type != SOCK_STREAM) return -EPROTOTYPE;
    lls_address address;
    int error = lls_local_address(fd, &address);
    if (error < 0) return error;
    lls_ip ip;
    int family = lls_read_address(&address, &ip);
    if (family == LLS_OTHER) return -EPROTOTYPE;
    // A listening socket has no peer either.
    error = lls_peer_address(fd, &address);
    return error < 0 ? error : family;
}

int lls_set_nonblocking(int fd, int on) {
    int flags = fcntl(fd, F_GETFL);
    if (flags < 0) return -errno;
    int wanted = on ? flags | O_NONBLOCK : flags & ~O_NONBLOCK;
    if (wanted != flags && fcntl(fd, F_SETFL, wanted) < 0) return -errno;
#ifdef __APPLE__
    int one = 1;
    if (on && setsockopt(fd, SOL_SOCKET, SO_NOSIGPIPE, &one, sizeof one) < 0) return -errno;
#endif
    return flags & O_NONBLOCK ? 1 : 0;
}
