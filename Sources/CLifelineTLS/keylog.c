#define _GNU_SOURCE
#include "CLifelineTLSKeyLog.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <unistd.h>

struct llt_key_log {
    pthread_mutex_t lock;
    int descriptor;
};

llt_key_log *llt_key_log_open(const char *path, int *error) {
    llt_key_log *log = calloc(1, sizeof *log);
    *error = ENOMEM;
    if (log == NULL) return NULL;
    do {
        log->descriptor = open(path, O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC | O_NOCTTY, S_IRUSR | S_IWUSR);
    } while (log->descriptor < 0 && errno == EINTR);
    if (log->descriptor < 0) {
        *error = errno;
        free(log);
        return NULL;
    }
    pthread_mutex_init(&log->lock, NULL);
    return log;
}

void llt_key_log_add(llt_key_log *log, const char *line) {
    struct iovec parts[2] = {{(void *)line, strlen(line)}, {"\n", 1}};
    size_t size = parts[0].iov_len + 1;
    pthread_mutex_lock(&log->lock);
    // One call, so that lines stay whole where other processes add to the file, too.
    ssize_t written = writev(log->descriptor, parts, 2);
    // A line that was cut, as on a full disk, mustn't run into the next.
    if (written > 0 && (size_t)written < size) written = write(log->descriptor, "\n", 1);
    pthread_mutex_unlock(&log->lock);
}

void llt_key_log_close(llt_key_log *log) {
    close(log->descriptor);
    pthread_mutex_destroy(&log->lock);
    free(log);
}
