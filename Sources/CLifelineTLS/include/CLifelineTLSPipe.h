// The pipe between an SSL object and a transport: encrypted bytes that wait for one or the other.

#ifndef CLIFELINETLSPIPE_H
#define CLIFELINETLSPIPE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <openssl/ssl.h>

typedef struct llt_pipe llt_pipe;

/// A pipe that `ssl` reads from and writes to, and that is freed with it; NULL if there is no memory.
llt_pipe *llt_pipe_attach(SSL *ssl);

/// Lends bytes to read: they have to stay where they are until they are taken back.
void llt_pipe_lend(llt_pipe *pipe, const uint8_t *bytes, size_t count);
/// Takes them back; returns how many were not read.
size_t llt_pipe_take_back(llt_pipe *pipe);

/// Makes room for `count` more bytes to be written, at once instead of bit by bit. Returns false if there is no memory.
bool llt_pipe_reserve(llt_pipe *pipe, size_t count);
/// What was written and not consumed yet.
const uint8_t *llt_pipe_written(const llt_pipe *pipe, size_t *count);
/// Drops the first `count` bytes of what was written; memory is kept only while something is left.
void llt_pipe_consume(llt_pipe *pipe, size_t count);
/// Writing fails for now once so much waits. No single call of OpenSSL's is cut: the bound may be passed by one record.
void llt_pipe_set_bound(llt_pipe *pipe, size_t bound);

#endif
