#include "CLifelineTLSVerify.h"

#include <openssl/crypto.h>
#include <openssl/x509v3.h>

/// OpenSSL keeps no certificate of a peer that it refuses.
typedef struct verdict {
    X509 *certificate;
    int error;
    int depth;
} verdict;

static int verdict_index = -1;
static CRYPTO_ONCE once = CRYPTO_ONCE_STATIC_INIT;

static void free_verdict(void *parent, void *pointer, CRYPTO_EX_DATA *data, int index, long number, void *argument) {
    (void)parent;
    (void)data;
    (void)index;
    (void)number;
    (void)argument;
    verdict *found = pointer;
    if (found == NULL) return;
    X509_free(found->certificate);
    OPENSSL_free(found);
}

static void make_index(void) { verdict_index = SSL_get_ex_new_index(0, NULL, NULL, NULL, free_verdict); }

/// Writes down the first thing that is wrong, and never changes the verdict.
static int write_down(int is_right, X509_STORE_CTX *store) {
    if (is_right) return is_right;
    SSL *ssl = X509_STORE_CTX_get_ex_data(store, SSL_get_ex_data_X509_STORE_CTX_idx());
    if (ssl == NULL || verdict_index < 0 || SSL_get_ex_data(ssl, verdict_index) != NULL) return is_right;
    verdict *found = OPENSSL_zalloc(sizeof *found);
    if (found == NULL) return is_right;
    found->error = X509_STORE_CTX_get_error(store);
    found->depth = X509_STORE_CTX_get_error_depth(store);
    X509 *certificate = X509_STORE_CTX_get_current_cert(store);
    if (certificate != NULL && X509_up_ref(certificate)) found->certificate = certificate;
    if (!SSL_set_ex_data(ssl, verdict_index, found)) {
        X509_free(found->certificate);
        OPENSSL_free(found);
    }
    return is_right;
}

static int accept_any(X509_STORE_CTX *store, void *unused) {
    (void)unused;
    X509_STORE_CTX_set_error(store, X509_V_OK);
    return 1;
}

void llt_context_verify(SSL_CTX *context, enum llt_verification verification) {
    CRYPTO_THREAD_run_once(&once, make_index);
    int mode = SSL_VERIFY_NONE;
    if (verification != LLT_NOT_ASKED_FOR) mode |= SSL_VERIFY_PEER;
    if (verification == LLT_REQUIRED || verification == LLT_ANY_REQUIRED) mode |= SSL_VERIFY_FAIL_IF_NO_PEER_CERT;
    SSL_CTX_set_verify(context, mode, write_down);
    if (verification == LLT_ANY || verification == LLT_ANY_REQUIRED) SSL_CTX_set_cert_verify_callback(context, accept_any, NULL);
}

void llt_store_trust_partial_chains(X509_STORE *store) { X509_STORE_set_flags(store, X509_V_FLAG_PARTIAL_CHAIN); }

bool llt_expect_peer(SSL *ssl, const char *name, bool is_address) {
    X509_VERIFY_PARAM *parameters = SSL_get0_param(ssl);
    if (is_address) return X509_VERIFY_PARAM_set1_ip_asc(parameters, name) == 1;
    X509_VERIFY_PARAM_set_hostflags(parameters, X509_CHECK_FLAG_NO_PARTIAL_WILDCARDS | X509_CHECK_FLAG_NEVER_CHECK_SUBJECT);
    return X509_VERIFY_PARAM_set1_host(parameters, name, 0) == 1;
}

int llt_verdict(const SSL *ssl, X509 **certificate, int *depth) {
    const verdict *found = verdict_index < 0 ? NULL : SSL_get_ex_data(ssl, verdict_index);
    *certificate = found == NULL ? NULL : found->certificate;
    *depth = found == NULL ? 0 : found->depth;
    return found == NULL ? (int)SSL_get_verify_result(ssl) : found->error;
}
