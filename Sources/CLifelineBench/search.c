// The C library's searches, which Swift's module of it doesn't show.

#define _GNU_SOURCE
#include "CLifelineBench.h"

#include <string.h>

ssize_t llb_search(const void *haystack, size_t count, const void *needle, size_t needle_count) {
    const char *found = needle_count == 1 ? memchr(haystack, *(const unsigned char *)needle, count)
                                          : memmem(haystack, count, needle, needle_count);
    return found ? found - (const char *)haystack : -1;
}
