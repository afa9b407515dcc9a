#define _GNU_SOURCE
#include "CLifelineTesting.h"

#include <dlfcn.h>
#include <execinfo.h>
#include <stdlib.h>
#include <string.h>

extern char *swift_demangle(
    const char *mangled, size_t length, char *_Nullable buffer, size_t *_Nullable size, uint32_t flags);

int lifeline_backtrace(void **frames, int capacity) { return backtrace(frames, capacity); }

static bool is_runtime(const Dl_info *info) {
    static const char *const images[] = {"libswift", "libc.so", "libc.musl", "libpthread", "libsystem_", "libdispatch", "ld-linux"};
    const char *image = info->dli_fname ? info->dli_fname : "";
    const char *slash = strrchr(image, '/');
    if (slash) image = slash + 1;
    for (size_t index = 0; index < sizeof images / sizeof *images; index++) {
        if (strncmp(image, images[index], strlen(images[index])) == 0) return true;
    }
    // Linked statically, the runtime stands in the program's own image.
    return info->dli_sname && (strncmp(info->dli_sname, "swift_", 6) == 0 || strncmp(info->dli_sname, "lifeline_", 9) == 0);
}

char *lifeline_symbol(const void *address) {
    Dl_info info;
    if (!dladdr(address, &info) || !info.dli_sname || is_runtime(&info)) return NULL;
    char *name = swift_demangle(info.dli_sname, strlen(info.dli_sname), NULL, NULL, 0);
    return name ? name : strdup(info.dli_sname);
}

void lifeline_symbol_free(char *symbol) { free(symbol); }
