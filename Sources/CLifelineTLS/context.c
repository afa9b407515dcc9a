#include "CLifelineTLSContext.h"

#include <string.h>
#include <time.h>

#include <openssl/err.h>

enum { LEAST_SECURITY_LEVEL = 2 };

static const char ALL_CIPHERS[] = "ALL:!aNULL:!eNULL";
static const char ALL_CIPHERS_13[] =
    "TLS_AES_256_GCM_SHA384:TLS_CHACHA20_POLY1305_SHA256:TLS_AES_128_GCM_SHA256:TLS_AES_128_CCM_SHA256:TLS_AES_128_CCM_8_SHA256";

/// Says that the client's name was heard (RFC 6066, 3). The choice was made before.
static int confirm_name(SSL *ssl, int *alert, void *unused) {
    (void)alert;
    (void)unused;
    return SSL_get_servername(ssl, TLSEXT_NAMETYPE_host_name) != NULL ? SSL_TLSEXT_ERR_OK : SSL_TLSEXT_ERR_NOACK;
}

SSL_CTX *llt_context_new(bool is_server, int minimum_version) {
    SSL_CTX *context = SSL_CTX_new(is_server ? TLS_server_method() : TLS_client_method());
    if (context == NULL) return NULL;

    // OpenSSL has just applied its configuration file's system_default. What of it isn't kept here is the same on every system.
    if (SSL_CTX_get_security_level(context) < LEAST_SECURITY_LEVEL) SSL_CTX_set_security_level(context, LEAST_SECURITY_LEVEL);
    int least = (int)SSL_CTX_get_min_proto_version(context);
    if (least < minimum_version) least = minimum_version;
    SSL_CTX_clear_options(context, ~(uint64_t)0);
    SSL_CTX_set_options(context, SSL_OP_NO_RENEGOTIATION | SSL_OP_NO_COMPRESSION | SSL_OP_ENABLE_MIDDLEBOX_COMPAT
                                     | SSL_OP_CIPHER_SERVER_PREFERENCE);

    SSL_CTX_clear_mode(context, ~0L);
    // AUTO_RETRY: a read goes on behind tickets and key updates, so that it wants more only when nothing is left to read.
    SSL_CTX_set_mode(context, SSL_MODE_AUTO_RETRY | SSL_MODE_ENABLE_PARTIAL_WRITE | SSL_MODE_ACCEPT_MOVING_WRITE_BUFFER
                                  | SSL_MODE_RELEASE_BUFFERS | SSL_MODE_NO_AUTO_CHAIN);
    SSL_CTX_set_max_early_data(context, 0);
    SSL_CTX_set_recv_max_early_data(context, 0);
    if (is_server) SSL_CTX_set_tlsext_servername_callback(context, confirm_name);

    if (SSL_CTX_set_min_proto_version(context, least) && SSL_CTX_set_max_proto_version(context, 0)
        && SSL_CTX_set_cipher_list(context, OSSL_default_cipher_list())
        && SSL_CTX_set_ciphersuites(context, OSSL_default_ciphersuites())) {
        return context;
    }
    SSL_CTX_free(context);
    return NULL;
}

bool llt_context_use(SSL_CTX *context, X509 *certificate, EVP_PKEY *key, X509 *const *chain, size_t count) {
    STACK_OF(X509) *stack = sk_X509_new_null();
    if (stack == NULL) return false;
    bool is_used = true;
    for (size_t index = 0; index < count && is_used; index++) is_used = sk_X509_push(stack, chain[index]) > 0;
    is_used = is_used && SSL_CTX_use_cert_and_key(context, certificate, key, stack, 1) == 1;
    sk_X509_free(stack);
    return is_used;
}

bool llt_context_ask_for(SSL_CTX *context, X509 *authority) { return SSL_CTX_add_client_CA(context, authority) == 1; }

void llt_context_offer_sessions(SSL_CTX *context, int (*keep)(SSL *ssl, SSL_SESSION *session)) {
    if (keep == NULL) {
        SSL_CTX_set_session_cache_mode(context, SSL_SESS_CACHE_OFF);
        SSL_CTX_set_options(context, SSL_OP_NO_TICKET);
        return;
    }
    SSL_CTX_set_session_cache_mode(context, SSL_SESS_CACHE_CLIENT | SSL_SESS_CACHE_NO_INTERNAL);
    SSL_CTX_sess_set_new_cb(context, keep);
}

/// Writes the time of the whole handshake into a ticket; one that follows another has it from there.
static int stamp(SSL *ssl, void *unused) {
    (void)unused;
    SSL_SESSION *session = SSL_get_session(ssl);
    void *stamped = NULL;
    size_t count = 0;
    if (session == NULL || !SSL_SESSION_get0_ticket_appdata(session, &stamped, &count)) return 0;
    if (count > 0) return 1;
    int64_t handshake_time = SSL_SESSION_get_time(session);
    return SSL_SESSION_set1_ticket_appdata(session, &handshake_time, sizeof handshake_time);
}

static bool is_fresh(SSL_SESSION *session) {
    void *stamped = NULL;
    size_t count = 0;
    int64_t handshake_time;
    if (!SSL_SESSION_get0_ticket_appdata(session, &stamped, &count) || count != sizeof handshake_time) return false;
    memcpy(&handshake_time, stamped, sizeof handshake_time);
    int64_t age = (int64_t)time(NULL) - handshake_time;
    if (age < 0 || age >= LLT_LONGEST_SESSION) return false;
    const X509 *client = SSL_SESSION_get0_peer(session);
    return client == NULL || X509_cmp_current_time(X509_get0_notAfter(client)) > 0;
}

/// Whether a ticket is used. Without this OpenSSL would do what stands here for the tickets that are fresh.
static SSL_TICKET_RETURN judge(
    SSL *ssl, SSL_SESSION *session, const unsigned char *name, size_t count, SSL_TICKET_STATUS status, void *unused
) {
    (void)ssl;
    (void)name;
    (void)count;
    (void)unused;
    switch (status) {
        case SSL_TICKET_SUCCESS: return is_fresh(session) ? SSL_TICKET_RETURN_USE : SSL_TICKET_RETURN_IGNORE_RENEW;
        case SSL_TICKET_SUCCESS_RENEW: return is_fresh(session) ? SSL_TICKET_RETURN_USE_RENEW : SSL_TICKET_RETURN_IGNORE_RENEW;
        default: return SSL_TICKET_RETURN_IGNORE_RENEW;
    }
}

void llt_context_give_sessions(SSL_CTX *context, bool is_on) {
    SSL_CTX_set_session_cache_mode(context, SSL_SESS_CACHE_OFF);
    if (is_on) {
        SSL_CTX_set_session_ticket_cb(context, stamp, judge, NULL);
        return;
    }
    SSL_CTX_set_options(context, SSL_OP_NO_TICKET);
    SSL_CTX_set_num_tickets(context, 0);
}

bool llt_context_get_ticket_keys(SSL_CTX *context, uint8_t keys[LLT_TICKET_KEYS_SIZE]) {
    return SSL_CTX_get_tlsext_ticket_keys(context, keys, LLT_TICKET_KEYS_SIZE) == 1;
}

bool llt_context_set_ticket_keys(SSL_CTX *context, const uint8_t keys[LLT_TICKET_KEYS_SIZE]) {
    return SSL_CTX_set_tlsext_ticket_keys(context, (void *)keys, LLT_TICKET_KEYS_SIZE) == 1;
}

const SSL_CIPHER *llt_context_find_cipher(SSL_CTX *context, const char *name) {
    if (!SSL_CTX_set_cipher_list(context, ALL_CIPHERS) || !SSL_CTX_set_ciphersuites(context, ALL_CIPHERS_13)) return NULL;
    const STACK_OF(SSL_CIPHER) *ciphers = SSL_CTX_get_ciphers(context);
    for (int index = 0; index < sk_SSL_CIPHER_num(ciphers); index++) {
        const SSL_CIPHER *cipher = sk_SSL_CIPHER_value(ciphers, index);
        const char *standard = SSL_CIPHER_standard_name(cipher);
        if (strcmp(SSL_CIPHER_get_name(cipher), name) == 0 || (standard != NULL && strcmp(standard, name) == 0)) return cipher;
    }
    return NULL;
}

bool llt_cipher_is_tls13(const SSL_CIPHER *cipher) { return strcmp(SSL_CIPHER_get_version(cipher), "TLSv1.3") == 0; }

bool llt_ask_for_name(SSL *ssl, const char *name) { return SSL_set_tlsext_host_name(ssl, name) == 1; }

X509 *llt_peer_chain(const SSL *ssl, int index) {
    STACK_OF(X509) *chain = SSL_get_peer_cert_chain(ssl);
    if (SSL_is_server(ssl)) {
        if (index == 0) return SSL_get0_peer_certificate(ssl);
        index -= 1;
    }
    return chain != NULL && index < sk_X509_num(chain) ? sk_X509_value(chain, index) : NULL;
}
