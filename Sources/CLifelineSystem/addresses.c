// Addresses: between the kernel's form, numbers and text.

#define _GNU_SOURCE
#include "CLifelineSystem.h"

#include <arpa/inet.h>
#include <errno.h>
#include <net/if.h>
#include <netdb.h>
#include <netinet/in.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/un.h>

int lls_read_address(const lls_address *address, lls_ip *ip) {
    memset(ip, 0, sizeof *ip);
    if (address->length < (socklen_t)(offsetof(struct sockaddr, sa_family) + sizeof(sa_family_t))) return LLS_OTHER;
    switch (address->storage.ss_family) {
    case AF_INET: {
        const struct sockaddr_in *v4 = (const struct sockaddr_in *)&address->storage;
        memcpy(&ip->high, &v4->sin_addr, 4);
        ip->port = ntohs(v4->sin_port);
        ip->family = LLS_V4;
        return LLS_V4;
    }
    case AF_INET6: {
        const struct sockaddr_in6 *v6 = (const struct sockaddr_in6 *)&address->storage;
        if (IN6_IS_ADDR_V4MAPPED(&v6->sin6_addr)) {
            // A socket of both families: the peer's address is an IPv4 one.
            memcpy(&ip->high, v6->sin6_addr.s6_addr + 12, 4);
            ip->port = ntohs(v6->sin6_port);
            ip->family = LLS_V4;
            return LLS_V4;
        }
        memcpy(&ip->high, v6->sin6_addr.s6_addr, 8);
        memcpy(&ip->low, v6->sin6_addr.s6_addr + 8, 8);
        ip->zone = v6->sin6_scope_id;
        ip->port = ntohs(v6->sin6_port);
        ip->family = LLS_V6;
        return LLS_V6;
    }
    case AF_UNIX: return LLS_UNIX;
    default: return LLS_OTHER;
    }
}

void lls_make_address(const lls_ip *ip, lls_address *address) {
    memset(address, 0, sizeof *address);
    if (ip->family == LLS_V4) {
        struct sockaddr_in *v4 = (struct sockaddr_in *)&address->storage;
        v4->sin_family = AF_INET;
        v4->sin_port = htons(ip->port);
        memcpy(&v4->sin_addr, &ip->high, 4);
        address->length = sizeof *v4;
    } else {
        struct sockaddr_in6 *v6 = (struct sockaddr_in6 *)&address->storage;
        v6->sin6_family = AF_INET6;
        v6->sin6_port = htons(ip->port);
        memcpy(v6->sin6_addr.s6_addr, &ip->high, 8);
        memcpy(v6->sin6_addr.s6_addr + 8, &ip->low, 8);
        v6->sin6_scope_id = ip->zone;
        address->length = sizeof *v6;
    }
}

size_t lls_unix_path_limit(void) {
    return sizeof(((struct sockaddr_un *)0)->sun_path) - 1;
}

int lls_make_unix_address(const char *path, size_t length, lls_address *address) {
    if (length > lls_unix_path_limit()) return -ENAMETOOLONG;
    memset(address, 0, sizeof *address);
    struct sockaddr_un *local = (struct sockaddr_un *)&address->storage;
    local->sun_family = AF_UNIX;
    memcpy(local->sun_path, path, length);
    address->length = (socklen_t)(offsetof(struct sockaddr_un, sun_path) + length + 1);
    return 0;
}

size_t lls_unix_path(const lls_address *address, char *path, size_t capacity) {
    const struct sockaddr_un *local = (const struct sockaddr_un *)&address->storage;
    if (address->length <= offsetof(struct sockaddr_un, sun_path)) return 0;
    size_t length = strnlen(local->sun_path, address->length - offsetof(struct sockaddr_un, sun_path));
    if (length > capacity) length = capacity;
    memcpy(path, local->sun_path, length);
    return length;
}

int lls_parse_ip(const char *text, lls_ip *ip) {
    memset(ip, 0, sizeof *ip);
    struct in_addr v4;
    if (inet_pton(AF_INET, text, &v4) == 1) {
        memcpy(&ip->high, &v4, 4);
        ip->family = LLS_V4;
        return 1;
    }
    char host[INET6_ADDRSTRLEN];
    const char *mark = strchr(text, '%');
    size_t length = mark == NULL ? strlen(text) : (size_t)(mark - text);
    if (length >= sizeof host) return 0;
    memcpy(host, text, length);
    host[length] = 0;
    struct in6_addr v6;
    if (inet_pton(AF_INET6, host, &v6) != 1) return 0;
    memcpy(&ip->high, v6.s6_addr, 8);
    memcpy(&ip->low, v6.s6_addr + 8, 8);
    ip->family = LLS_V6;
    if (mark != NULL) {
        ip->zone = if_nametoindex(mark + 1);
        if (ip->zone == 0) {
            char *end = NULL;
            unsigned long number = strtoul(mark + 1, &end, 10);
            if (mark[1] < '0' || mark[1] > '9' || *end != 0 || number == 0 || number > UINT32_MAX) return -ENODEV;
            ip->zone = (uint32_t)number;
        }
    }
    return 1;
}

void lls_format_ip(const lls_ip *ip, char *text, size_t capacity) {
    text[0] = 0;
    if (ip->family == LLS_V4) {
        inet_ntop(AF_INET, &ip->high, text, (socklen_t)capacity);
        return;
    }
    struct in6_addr v6;
    memcpy(v6.s6_addr, &ip->high, 8);
    memcpy(v6.s6_addr + 8, &ip->low, 8);
    if (inet_ntop(AF_INET6, &v6, text, (socklen_t)capacity) == NULL || ip->zone == 0) return;
    char name[IF_NAMESIZE];
    size_t length = strlen(text);
    if (if_indextoname(ip->zone, name) != NULL) {
        snprintf(text + length, capacity - length, "%%%s", name);
    } else {
        snprintf(text + length, capacity - length, "%%%u", ip->zone);
    }
}

int lls_resolve(const char *host, lls_ip *found, int capacity, int *code, int *system) {
    // Not AI_ADDRCONFIG: it hides loopback addresses on machines without a network, and an address that can't be reached fails at once.
    struct addrinfo hints = {.ai_family = AF_UNSPEC, .ai_socktype = SOCK_STREAM};
    struct addrinfo *list = NULL;
    *code = getaddrinfo(host, NULL, &hints, &list);
    *system = *code == EAI_SYSTEM ? errno : 0;
    if (*code != 0) return -1;
    int count = 0;
    for (struct addrinfo *entry = list; entry != NULL && count < capacity; entry = entry->ai_next) {
        lls_address address;
        if (entry->ai_addrlen > sizeof address.storage) continue;
        memset(&address, 0, sizeof address);
        memcpy(&address.storage, entry->ai_addr, entry->ai_addrlen);
        address.length = entry->ai_addrlen;
        int family = lls_read_address(&address, &found[count]);
        if (family == LLS_V4 || family == LLS_V6) count++;
    }
    freeaddrinfo(list);
    return count;
}

const char *lls_resolver_text(int code) {
    return gai_strerror(code);
}
