// Processes: starting them, tying them down, and looking at them from outside.

#define _GNU_SOURCE
#include "CLifelineBench.h"
#include "internal.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <unistd.h>

int llb_core(int nth) {
    cpu_set_t cores;
    if (sched_getaffinity(0, sizeof cores, &cores) < 0) return -1;
    for (int core = 0; core < CPU_SETSIZE; core++) {
        if (CPU_ISSET(core, &cores) && nth-- == 0) return core;
    }
    return -1;
}

int llb_schedule_in_batches(void) {
    if (sched_getscheduler(0) != SCHED_OTHER) return -1;
    return sched_setscheduler(0, SCHED_BATCH, &(struct sched_param){0});
}

int llb_raise_open_files(void) {
    struct rlimit files;
    if (getrlimit(RLIMIT_NOFILE, &files) < 0) return llb_fail("getrlimit: %s", strerror(errno));
    files.rlim_cur = files.rlim_max;
    if (setrlimit(RLIMIT_NOFILE, &files) < 0) return llb_fail("setrlimit: %s", strerror(errno));
    return 0;
}

/// The child's side, between fork and exec. What is set here stays set in the new program.
static void become(char *const arguments[], int core, unsigned limit, int output, pid_t parent) {
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (getppid() != parent) _exit(127);  // it died before the line above
    alarm(limit);
    if (core >= 0) {
        cpu_set_t cores;
        CPU_ZERO(&cores);
        CPU_SET((size_t)core, &cores);
        if (sched_setaffinity(0, sizeof cores, &cores) < 0) _exit(127);
    }
    dup2(output, STDOUT_FILENO);
    execv("/proc/self/exe", arguments);
    _exit(127);
}

pid_t llb_spawn(char *const arguments[], int core, unsigned limit, int *output) {
    int ends[2];
    if (pipe2(ends, O_CLOEXEC) < 0) return llb_fail("pipe: %s", strerror(errno));
    pid_t parent = getpid();
    pid_t child = fork();
    if (child == 0) become(arguments, core, limit, ends[1], parent);
    close(ends[1]);
    if (child < 0) {
        close(ends[0]);
        return llb_fail("fork: %s", strerror(errno));
    }
    *output = ends[0];
    return child;
}

double llb_processor_seconds(pid_t process) {
    clockid_t clock;
    struct timespec time;
    if (clock_getcpuclockid(process, &clock) != 0 || clock_gettime(clock, &time) < 0) return -1;
    return (double)time.tv_sec + (double)time.tv_nsec / 1e9;
}

int64_t llb_anonymous_bytes(pid_t process) {
    // smaps_rollup walks the pages; RssAnon in status is the sum of per-core counters, which may be
    // late by hundreds of kilobytes.
    char name[64];
    char line[256];
    int64_t kilobytes = -1;
    snprintf(name, sizeof name, "/proc/%d/smaps_rollup", (int)process);
    FILE *file = fopen(name, "re");
    if (file == NULL) return -1;
    while (kilobytes < 0 && fgets(line, sizeof line, file) != NULL) {
        if (strncmp(line, "Anonymous:", 10) == 0) kilobytes = strtoll(line + 10, NULL, 10);
    }
    fclose(file);
    return kilobytes < 0 ? -1 : kilobytes * 1024;
}

int llb_open_files(pid_t process) {
    char name[64];
    snprintf(name, sizeof name, "/proc/%d/fd", (int)process);
    DIR *directory = opendir(name);
    if (directory == NULL) return -1;
    int count = -2;  // "." and ".." are none
    while (readdir(directory) != NULL) count++;
    closedir(directory);
    return count;
}
