// The thread's queue of errors.

#ifndef CLIFELINETLSERROR_H
#define CLIFELINETLSERROR_H

#include <stdbool.h>

enum llt_library { LLT_LIBRARY_OTHER, LLT_LIBRARY_SSL, LLT_LIBRARY_PEM, LLT_LIBRARY_SYSTEM };

typedef struct llt_error {
    enum llt_library library;
    /// In SSL: SSL_R_; of the system: errno.
    int reason;
    bool is_no_memory;
    /// In words, with a zero byte behind them.
    char words[256];
} llt_error;

/// Takes the oldest error. Returns false if there is none.
bool llt_next_error(llt_error *error);

#endif
