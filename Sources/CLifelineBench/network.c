// A network of the process's own, with nothing but a loopback interface.

#define _GNU_SOURCE
#include "CLifelineBench.h"
#include "internal.h"

#include <errno.h>
#include <fcntl.h>
#include <net/if.h>
#include <sched.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static int put(const char *file, const char *text) {
    int fd = open(file, O_WRONLY | O_CLOEXEC);
    if (fd < 0) return -1;
    ssize_t count = write(fd, text, strlen(text));
    close(fd);
    return count < 0 ? -1 : 0;
}

/// Somebody who isn't root may be root among users of their own.
static int become_root_of_own(void) {
    char map[64];
    snprintf(map, sizeof map, "0 %u 1", (unsigned)getuid());
    if (unshare(CLONE_NEWUSER | CLONE_NEWNET) < 0) return -1;
    return put("/proc/self/uid_map", map);
}

static int enter(const char *congestion_control) {
    if (unshare(CLONE_NEWNET) < 0 && become_root_of_own() < 0) return -1;
    struct ifreq loopback = {.ifr_name = "lo"};
    int fd = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
    if (fd < 0) return -1;
    int result = ioctl(fd, SIOCGIFFLAGS, &loopback);
    loopback.ifr_flags |= IFF_UP;
    if (result == 0) result = ioctl(fd, SIOCSIFFLAGS, &loopback);
    close(fd);
    if (result < 0 || congestion_control == NULL) return result;
    return put("/proc/sys/net/ipv4/tcp_congestion_control", congestion_control);
}

int llb_enter_own_network(const char *congestion_control) {
    // There is no way back from a step that leads nowhere, so somebody else goes first.
    pid_t scout = fork();
    if (scout == 0) _exit(enter(congestion_control) == 0 ? 0 : 1);
    int status = 1;
    if (scout < 0) return -1;
    while (waitpid(scout, &status, 0) < 0) {
        if (errno != EINTR) return -1;
    }
    return status == 0 ? enter(congestion_control) : -1;
}

double llb_thread_seconds(void) {
    struct timespec time;
    if (clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time) < 0) return -1;
    return (double)time.tv_sec + (double)time.tv_nsec / 1e9;
}
