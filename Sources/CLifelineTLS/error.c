#include "CLifelineTLSError.h"

#include <stdio.h>
#include <string.h>

#include <openssl/err.h>

static enum llt_library library_of(unsigned long code) {
    if (ERR_SYSTEM_ERROR(code)) return LLT_LIBRARY_SYSTEM;
    switch (ERR_GET_LIB(code)) {
        case ERR_LIB_SSL: return LLT_LIBRARY_SSL;
        case ERR_LIB_PEM: return LLT_LIBRARY_PEM;
        default: return LLT_LIBRARY_OTHER;
    }
}

bool llt_next_error(llt_error *error) {
    unsigned long code = ERR_get_error();
    if (code == 0) return false;
    error->library = library_of(code);
    error->reason = ERR_GET_REASON(code);
    error->is_no_memory = ERR_GET_REASON(code) == ERR_R_MALLOC_FAILURE;
    // error:NUMBER:LIBRARY:FUNCTION:REASON
    char line[256];
    ERR_error_string_n(code, line, sizeof line);
    const char *words = strrchr(line, ':');
    snprintf(error->words, sizeof error->words, "%s", words == NULL ? line : words + 1);
    return true;
}
