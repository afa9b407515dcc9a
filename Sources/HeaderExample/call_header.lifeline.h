// What call_header.h, which comes from the server team as it is, doesn't tell a program.
// lifeline: call_header_t: public; big-endian; length counts packet
