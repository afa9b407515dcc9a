// The file of secrets, for debugging.

#ifndef CLIFELINETLSKEYLOG_H
#define CLIFELINETLSKEYLOG_H

typedef struct llt_key_log llt_key_log;

/// Opens a file to add lines to; one that isn't there is made, for its owner only. NULL, and the system's error, if that isn't possible.
llt_key_log *llt_key_log_open(const char *path, int *error);
/// Adds a whole line. Threads may call it at the same time.
void llt_key_log_add(llt_key_log *log, const char *line);
void llt_key_log_close(llt_key_log *log);

#endif
