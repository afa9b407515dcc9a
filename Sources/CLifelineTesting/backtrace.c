#define _GNU_SOURCE
#include "internal.h"

#include <dlfcn.h>
#include <execinfo.h>
#include <stdlib.h>
#include <string.h>

extern char *swift_demangle(const char *mangled, size_t length, char *buffer, size_t *size, uint32_t flags);

int lifeline_backtrace(void **frames, int capacity) { return backtrace(frames, capacity); }

// What stands in a job, which is a task here, and in the frames of its suspended functions: fixed by the language's stable ABI.
struct async_frame {
    const struct async_frame *parent;
    void *resume_parent;
};

/// The runtime's own word for debuggers on how tasks are laid out.
extern const uint32_t _swift_concurrency_debug_internal_layout_version __attribute__((weak));
enum { known_layout = 1 };

struct task {
    void *object[2];
    void *scheduling[2];
    uint32_t flags;
    uint32_t number;
    void *reserved[2];
    void *resume;
    const struct async_frame *frame;
};

int lifeline_task_backtrace(const void *job, void **frames, int capacity) {
#if defined(__linux__) && (defined(__x86_64__) || defined(__aarch64__))
    if (!&_swift_concurrency_debug_internal_layout_version || _swift_concurrency_debug_internal_layout_version != known_layout) return 0;
    const struct task *task = job;
    enum { kind_mask = 0xff, kind_task = 0 };
    if ((task->flags & kind_mask) != kind_task || capacity < 1) return 0;
    int count = 0;
    frames[count++] = task->resume;
    for (const struct async_frame *frame = task->frame; frame && count < capacity; frame = frame->parent) {
        frames[count++] = frame->resume_parent;
    }
    return count;
#else
    (void)job, (void)frames, (void)capacity;
    return 0;
#endif
}

/// Whether the file is the language's runtime or the system's.
static bool is_runtime(const char *image) {
    static const char *const images[] = {"libswift", "libc.so", "libc.musl", "libpthread", "libsystem_", "libdispatch", "ld-linux"};
    const char *slash = image ? strrchr(image, '/') : NULL;
    const char *file = slash ? slash + 1 : image ? image : "";
    for (size_t index = 0; index < sizeof images / sizeof *images; index++) {
        if (strncmp(file, images[index], strlen(images[index])) == 0) return true;
    }
    return false;
}

static bool is_swift(const char *mangled) { return mangled[0] == '$' || (mangled[0] == '_' && mangled[1] == '$'); }

char *lifeline_symbol(const void *address) {
    Dl_info info;
    if (!dladdr(address, &info) || is_runtime(info.dli_fname)) return NULL;
    // The nearest dynamic symbol may be another function than the one that holds the address.
    char *found = lifeline_static_symbol(info.dli_fname, info.dli_fbase, address);
    const char *mangled = found ? found : info.dli_sname;
    char *name = mangled && is_swift(mangled) ? swift_demangle(mangled, strlen(mangled), NULL, NULL, 0) : NULL;
    free(found);
    return name;
}

void lifeline_symbol_free(char *symbol) { free(symbol); }
