#define _GNU_SOURCE
#include "internal.h"

#include <stdlib.h>

// Names of functions that are no dynamic symbols, from the image's own symbol table.

#if defined(__linux__)
#include <elf.h>
#include <fcntl.h>
#include <link.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

/// The name of the function of a mapped ELF file that holds `offset`.
static char *find(const unsigned char *file, size_t size, uintptr_t offset) {
    const ElfW(Ehdr) *header = (const void *)file;
    if (size < sizeof *header || memcmp(header->e_ident, ELFMAG, SELFMAG) != 0) return NULL;
    if (header->e_shoff + (size_t)header->e_shnum * sizeof(ElfW(Shdr)) > size) return NULL;
    const ElfW(Shdr) *sections = (const void *)(file + header->e_shoff);
    for (size_t index = 0; index < header->e_shnum; index++) {
        const ElfW(Shdr) *table = &sections[index];
        if (table->sh_type != SHT_SYMTAB || table->sh_link >= header->e_shnum) continue;
        const ElfW(Shdr) *names = &sections[table->sh_link];
        if (table->sh_offset + table->sh_size > size || names->sh_offset + names->sh_size > size) continue;
        const ElfW(Sym) *symbols = (const void *)(file + table->sh_offset);
        size_t count = table->sh_size / sizeof *symbols;
        for (size_t place = 0; place < count; place++) {
            const ElfW(Sym) *symbol = &symbols[place];
            // The type stands in the same bits for both sizes of ELF.
            if (ELF64_ST_TYPE(symbol->st_info) != STT_FUNC || symbol->st_name >= names->sh_size) continue;
            if (offset < symbol->st_value || offset >= symbol->st_value + symbol->st_size) continue;
            const char *name = (const char *)file + names->sh_offset + symbol->st_name;
            return strndup(name, names->sh_size - symbol->st_name);
        }
    }
    return NULL;
}

char *lifeline_static_symbol(const char *image, const void *base, const void *address) {
    int descriptor = open(image, O_RDONLY | O_CLOEXEC);
    if (descriptor < 0) descriptor = open("/proc/self/exe", O_RDONLY | O_CLOEXEC);
    if (descriptor < 0) return NULL;
    struct stat status;
    char *name = NULL;
    if (fstat(descriptor, &status) == 0 && status.st_size > 0) {
        size_t size = (size_t)status.st_size;
        void *file = mmap(NULL, size, PROT_READ, MAP_PRIVATE, descriptor, 0);
        if (file != MAP_FAILED) {
            // Values are addresses in a program at a fixed place, offsets in one that can be moved.
            const ElfW(Ehdr) *header = file;
            uintptr_t offset = (uintptr_t)address - (header->e_type == ET_DYN ? (uintptr_t)base : 0);
            name = find(file, size, offset);
            munmap(file, size);
        }
    }
    close(descriptor);
    return name;
}
#else
char *lifeline_static_symbol(const char *image, const void *base, const void *address) {
    (void)image, (void)base, (void)address;
    return NULL;
}
#endif
