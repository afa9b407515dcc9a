// The file that a Unix socket leaves in the file system.

#define _GNU_SOURCE
#include "CLifelineSystem.h"

#include <errno.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

int lls_file_at(const char *path, lls_file *file) {
    struct stat status;
    if (lstat(path, &status) < 0) return -errno;
    file->device = (uint64_t)status.st_dev;
    file->inode = (uint64_t)status.st_ino;
    file->is_socket = S_ISSOCK(status.st_mode) ? 1 : 0;
    return 0;
}

int lls_remove_file(const char *path) {
    return unlink(path) < 0 ? -errno : 0;
}
