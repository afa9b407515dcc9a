// Verifying the peer's certificate, and what was found wrong with it.

#ifndef CLIFELINETLSVERIFY_H
#define CLIFELINETLSVERIFY_H

#include <stdbool.h>

#include <openssl/ssl.h>

enum llt_verification {
    LLT_NOT_ASKED_FOR,  // a server that wants no certificate
    LLT_ANY,            // one that may be whose it wants
    LLT_OPTIONAL,       // a server that wants one that passes, or none
    LLT_REQUIRED,
    LLT_ANY_REQUIRED,   // a server that wants one, whose it may be
};

/// How peers' certificates are verified by a context.
void llt_context_verify(SSL_CTX *context, enum llt_verification verification);
/// Own authorities count even if others stand above them.
void llt_store_trust_partial_chains(X509_STORE *store);

/// The name (if `is_address`, the IP address) that the peer's certificate has to be for.
bool llt_expect_peer(SSL *ssl, const char *name, bool is_address);

/// What verification has found wrong, as X509_V_ERR_; X509_V_OK if nothing was. The certificate belongs to `ssl`, and may be NULL.
int llt_verdict(const SSL *ssl, X509 **certificate, int *depth);

#endif
