// Settings of sockets, and what the kernel knows about a connection.

#define _GNU_SOURCE
#include "CLifelineSystem.h"

#include <errno.h>
#include <net/if.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <string.h>

static int set(int fd, int level, int name, int value) {
    return setsockopt(fd, level, name, &value, sizeof value) < 0 ? -errno : 0;
}

int lls_set_no_delay(int fd) {
    return set(fd, IPPROTO_TCP, TCP_NODELAY, 1);
}

int lls_set_keep_alive(int fd, int idle, int interval, int count) {
    int error = set(fd, SOL_SOCKET, SO_KEEPALIVE, 1);
#ifdef __APPLE__
    if (error == 0) error = set(fd, IPPROTO_TCP, TCP_KEEPALIVE, idle);
#else
    if (error == 0) error = set(fd, IPPROTO_TCP, TCP_KEEPIDLE, idle);
#endif
    if (error == 0) error = set(fd, IPPROTO_TCP, TCP_KEEPINTVL, interval);
    if (error == 0) error = set(fd, IPPROTO_TCP, TCP_KEEPCNT, count);
    return error;
}

int lls_set_user_timeout(int fd, unsigned milliseconds) {
#ifdef __APPLE__
    return set(fd, IPPROTO_TCP, TCP_RXT_CONNDROPTIME, (int)((milliseconds + 999) / 1000));
#else
    return setsockopt(fd, IPPROTO_TCP, TCP_USER_TIMEOUT, &milliseconds, sizeof milliseconds) < 0 ? -errno : 0;
#endif
}

int lls_set_interface(int fd, const char *name) {
#ifdef __APPLE__
    unsigned index = if_nametoindex(name);
    if (index == 0) return -ENODEV;
    int error = set(fd, IPPROTO_IP, IP_BOUND_IF, (int)index);
    return error == 0 ? 0 : set(fd, IPPROTO_IPV6, IPV6_BOUND_IF, (int)index);
#else
    size_t length = strlen(name);
    if (length == 0 || length >= IF_NAMESIZE) return -ENODEV;
    return setsockopt(fd, SOL_SOCKET, SO_BINDTODEVICE, name, (socklen_t)length) < 0 ? -errno : 0;
#endif
}

int lls_set_send_buffer(int fd, int bytes) {
    return set(fd, SOL_SOCKET, SO_SNDBUF, bytes);
}

int lls_set_receive_buffer(int fd, int bytes) {
    return set(fd, SOL_SOCKET, SO_RCVBUF, bytes);
}

int lls_set_reuse_address(int fd) {
    return set(fd, SOL_SOCKET, SO_REUSEADDR, 1);
}

int lls_set_reuse_port(int fd) {
    return set(fd, SOL_SOCKET, SO_REUSEPORT, 1);
}

int lls_set_v6_only(int fd, int on) {
    return set(fd, IPPROTO_IPV6, IPV6_V6ONLY, on);
}

int lls_set_reset_on_close(int fd) {
    struct linger linger = {.l_onoff = 1, .l_linger = 0};
    return setsockopt(fd, SOL_SOCKET, SO_LINGER, &linger, sizeof linger) < 0 ? -errno : 0;
}

int lls_tcp_info(int fd, lls_tcp_facts *facts) {
#ifdef __APPLE__
    struct tcp_connection_info info;
    socklen_t length = sizeof info;
    memset(&info, 0, sizeof info);
    if (getsockopt(fd, IPPROTO_TCP, TCP_CONNECTION_INFO, &info, &length) < 0) return -errno;
    facts->round_trip_us = info.tcpi_srtt * 1000;
    facts->round_trip_variation_us = info.tcpi_rttvar * 1000;
    facts->retransmits = (uint32_t)info.tcpi_txretransmitpackets;
    facts->unacknowledged = info.tcpi_maxseg ? info.tcpi_snd_sbbytes / info.tcpi_maxseg : 0;
#else
    struct tcp_info info;
    socklen_t length = sizeof info;
    memset(&info, 0, sizeof info);
    if (getsockopt(fd, IPPROTO_TCP, TCP_INFO, &info, &length) < 0) return -errno;
    facts->round_trip_us = info.tcpi_rtt;
    facts->round_trip_variation_us = info.tcpi_rttvar;
    facts->retransmits = info.tcpi_total_retrans;
    facts->unacknowledged = info.tcpi_unacked;
#endif
    return 0;
}
