/* The packet header of the chat server. All numbers are little-endian. */
#ifndef CHAT_HEADER_H
#define CHAT_HEADER_H

#define CHAT_VERSION 1

/* lifeline: public; little-endian */
struct chat_header {
    int version;              /* lifeline: == CHAT_VERSION */
    int main_type;            /* what the packet is about; lifeline: in -9...999 */
    int sub_type;             /* what it is about in detail, -1 for nothing; lifeline: in -9...999 */
    unsigned int body_length; /* lifeline: counts body */
};

#endif
