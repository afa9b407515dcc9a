// What a context of OpenSSL's is made of, as far as it takes macros or stacks.

#ifndef CLIFELINETLSCONTEXT_H
#define CLIFELINETLSCONTEXT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <openssl/ssl.h>

/// A context for clients or servers that speaks `minimum_version` and later, with OpenSSL's default cipher suites; NULL if there is no memory
/// or OpenSSL can't. Of its configuration file the security level and the oldest version count, where they are stricter; nothing else does:
/// neither cipher suites nor the newest version nor options.
SSL_CTX *llt_context_new(bool is_server, int minimum_version);

/// Takes a certificate, its key and what leads to its authority. Returns false, with the errors in the queue, if one of them can't be used.
bool llt_context_use(SSL_CTX *context, X509 *certificate, EVP_PKEY *key, X509 *const *chain, size_t count);
/// Names an authority whose certificates a server wants from clients.
bool llt_context_ask_for(SSL_CTX *context, X509 *authority);

/// A client: keeps no sessions itself; `keep` is asked for each one and returns 0.
void llt_context_offer_sessions(SSL_CTX *context, int (*keep)(SSL *ssl, SSL_SESSION *session));
enum { LLT_LONGEST_SESSION = 24 * 60 * 60 };
/// A server: sessions live in tickets only, and only if `is_on`. A ticket is of use for LLT_LONGEST_SESSION seconds from the last whole
/// handshake, however often it was renewed, and while the client's certificate is valid.
void llt_context_give_sessions(SSL_CTX *context, bool is_on);

enum { LLT_TICKET_KEYS_SIZE = 80 };
bool llt_context_get_ticket_keys(SSL_CTX *context, uint8_t keys[LLT_TICKET_KEYS_SIZE]);
bool llt_context_set_ticket_keys(SSL_CTX *context, const uint8_t keys[LLT_TICKET_KEYS_SIZE]);

/// A cipher suite by its name in OpenSSL or in the standard; NULL if it isn't known, or protects nothing.
const SSL_CIPHER *llt_context_find_cipher(SSL_CTX *context, const char *name);
bool llt_cipher_is_tls13(const SSL_CIPHER *cipher);

/// Asks the server for a name (RFC 6066).
bool llt_ask_for_name(SSL *ssl, const char *name);

/// The certificate at `index` of those that the peer has sent; NULL behind the last. A server's own list leaves out the first.
X509 *llt_peer_chain(const SSL *ssl, int index);

#endif
