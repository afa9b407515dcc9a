#include "CLifelineTLSPipe.h"

#include <stdlib.h>
#include <string.h>

#include <openssl/bio.h>
#include <openssl/crypto.h>

struct llt_pipe {
    const uint8_t *lent;
    size_t lent_count;

    uint8_t *written;
    size_t start;  // of what isn't consumed
    size_t end;
    size_t capacity;
    size_t bound;
};

enum { FIRST_CAPACITY = 4096, BOUND = 256 * 1024 };

static int pipe_read(BIO *bio, char *buffer, int size) {
    llt_pipe *pipe = BIO_get_data(bio);
    BIO_clear_retry_flags(bio);
    if (size <= 0) return 0;
    if (pipe->lent_count == 0) {
        BIO_set_retry_read(bio);
        return -1;
    }
    size_t count = pipe->lent_count < (size_t)size ? pipe->lent_count : (size_t)size;
    memcpy(buffer, pipe->lent, count);
    pipe->lent += count;
    pipe->lent_count -= count;
    return (int)count;
}

/// Makes room for `count` bytes behind what is there. Returns false if there is no memory.
static bool make_room(llt_pipe *pipe, size_t count) {
    size_t kept = pipe->end - pipe->start;
    if (pipe->capacity - pipe->end >= count) return true;
    if (pipe->capacity - kept >= count && pipe->start >= kept) {
        memcpy(pipe->written, pipe->written + pipe->start, kept);
    } else {
        size_t capacity = pipe->capacity > 0 ? pipe->capacity : FIRST_CAPACITY;
        while (capacity - kept < count) capacity *= 2;
        uint8_t *larger = malloc(capacity);
        if (larger == NULL) return false;
        if (kept > 0) memcpy(larger, pipe->written + pipe->start, kept);
        free(pipe->written);
        pipe->written = larger;
        pipe->capacity = capacity;
    }
    pipe->start = 0;
    pipe->end = kept;
    return true;
}

static int pipe_write(BIO *bio, const char *bytes, int count) {
    llt_pipe *pipe = BIO_get_data(bio);
    BIO_clear_retry_flags(bio);
    if (count <= 0) return 0;
    if (pipe->end - pipe->start >= pipe->bound) {
        BIO_set_retry_write(bio);
        return -1;
    }
    if (!make_room(pipe, (size_t)count)) return -1;
    memcpy(pipe->written + pipe->end, bytes, (size_t)count);
    pipe->end += (size_t)count;
    return count;
}

static long pipe_control(BIO *bio, int command, long number, void *pointer) {
    (void)number;
    (void)pointer;
    llt_pipe *pipe = BIO_get_data(bio);
    switch (command) {
        case BIO_CTRL_FLUSH:
        case BIO_CTRL_DUP:
            return 1;
        case BIO_CTRL_PENDING:
            return (long)pipe->lent_count;
        case BIO_CTRL_WPENDING:
            return (long)(pipe->end - pipe->start);
        default:
            return 0;
    }
}

static int pipe_destroy(BIO *bio) {
    llt_pipe *pipe = BIO_get_data(bio);
    if (pipe != NULL) {
        free(pipe->written);
        free(pipe);
        BIO_set_data(bio, NULL);
    }
    return 1;
}

static BIO_METHOD *method;
static CRYPTO_ONCE once = CRYPTO_ONCE_STATIC_INIT;

static void make_method(void) {
    BIO_METHOD *made = BIO_meth_new(BIO_get_new_index() | BIO_TYPE_SOURCE_SINK, "transport");
    if (made == NULL) return;
    if (BIO_meth_set_read(made, pipe_read) && BIO_meth_set_write(made, pipe_write) && BIO_meth_set_ctrl(made, pipe_control)
        && BIO_meth_set_destroy(made, pipe_destroy)) {
        method = made;
    }
}

llt_pipe *llt_pipe_attach(SSL *ssl) {
    if (!CRYPTO_THREAD_run_once(&once, make_method) || method == NULL) return NULL;
    llt_pipe *pipe = calloc(1, sizeof *pipe);
    BIO *bio = BIO_new(method);
    if (pipe == NULL || bio == NULL) {
        free(pipe);
        BIO_free(bio);
        return NULL;
    }
    pipe->bound = BOUND;
    BIO_set_data(bio, pipe);
    BIO_set_init(bio, 1);
    SSL_set_bio(ssl, bio, bio);
    return pipe;
}

void llt_pipe_lend(llt_pipe *pipe, const uint8_t *bytes, size_t count) {
    pipe->lent = bytes;
    pipe->lent_count = count;
}

size_t llt_pipe_take_back(llt_pipe *pipe) {
    size_t left = pipe->lent_count;
    pipe->lent = NULL;
    pipe->lent_count = 0;
    return left;
}

bool llt_pipe_reserve(llt_pipe *pipe, size_t count) { return make_room(pipe, count); }

const uint8_t *llt_pipe_written(const llt_pipe *pipe, size_t *count) {
    *count = pipe->end - pipe->start;
    return pipe->written == NULL ? NULL : pipe->written + pipe->start;
}

void llt_pipe_consume(llt_pipe *pipe, size_t count) {
    size_t there = pipe->end - pipe->start;
    pipe->start += count < there ? count : there;
    if (pipe->start < pipe->end) return;
    free(pipe->written);
    pipe->written = NULL;
    pipe->start = pipe->end = pipe->capacity = 0;
}

void llt_pipe_set_bound(llt_pipe *pipe, size_t bound) { pipe->bound = bound; }
