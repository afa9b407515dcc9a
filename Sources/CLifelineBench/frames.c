// Frames: made once, sent by the batch, and checked where they lie, without putting parts together.

#define _GNU_SOURCE
#include "CLifelineBench.h"
#include "internal.h"

#include <arpa/inet.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>

enum { PREFIX = 4, COUNTER = 8, MOST_BYTES = 1024 * 1024 };

static inline uint64_t counter(const struct llb_stream *stream, uint64_t frame) {
    return stream->id << 40 | frame;
}

int llb_frames_make(struct llb_frames *frames, size_t payload, size_t in_flight) {
    size_t length = PREFIX + payload;
    size_t batch = MOST_BYTES / length;
    if (batch > in_flight) batch = in_flight;
    if (batch == 0) batch = 1;
    *frames = (struct llb_frames){
        .payload = payload,
        .length = length,
        .head = payload >= COUNTER ? PREFIX + COUNTER : PREFIX,
        .batch = batch,
        .bytes = malloc(batch * length),
    };
    if (frames->bytes == NULL) return llb_fail("no memory for %zu frames", batch);
    uint32_t prefix = htonl((uint32_t)payload);
    for (size_t i = 0; i < batch; i++) {
        uint8_t *frame = frames->bytes + i * length;
        memcpy(frame, &prefix, PREFIX);
        // A period that is no power of two: a buffer that slipped by a page does not look right.
        for (size_t j = 0; j < payload; j++) frame[PREFIX + j] = (uint8_t)(j % 251 + 1);
    }
    return 0;
}

int llb_frames_send(struct llb_frames *frames, struct llb_stream *stream, int socket) {
    while (stream->sent < stream->wanted) {
        size_t count = frames->batch;
        if (count > stream->wanted - stream->sent) count = (size_t)(stream->wanted - stream->sent);
        if (frames->head > PREFIX) {
            uint8_t *place = frames->bytes + PREFIX;
            for (size_t i = 0; i < count; i++, place += frames->length) {
                uint64_t value = counter(stream, stream->sent + i);
                memcpy(place, &value, COUNTER);
            }
        }
        size_t left = count * frames->length - stream->sent_part;
        ssize_t written = send(socket, frames->bytes + stream->sent_part, left, MSG_NOSIGNAL);
        if (written < 0) {
            if (errno == EINTR) continue;
            if (errno == EAGAIN) return 0;
            return llb_fail("connection %llu: send: %s", (unsigned long long)stream->id, strerror(errno));
        }
        size_t total = stream->sent_part + (size_t)written;
        stream->sent += total / frames->length;
        stream->sent_part = total % frames->length;
        if ((size_t)written < left) return 0;
    }
    return 1;
}

static int wrong(const struct llb_stream *stream, const char *what) {
    return llb_fail("connection %llu, frame %llu: %s", (unsigned long long)stream->id,
                    (unsigned long long)stream->received, what);
}

/// Checks bytes that are a part of one frame.
static int check_part(const struct llb_frames *frames, struct llb_stream *stream, const uint8_t *bytes, size_t count) {
    uint8_t head[PREFIX + COUNTER];
    uint64_t value = counter(stream, stream->received);
    memcpy(head, frames->bytes, PREFIX);
    memcpy(head + PREFIX, &value, COUNTER);
    size_t at = stream->received_part;
    size_t end = at + count;
    for (; at < end && at < frames->head; at++) {
        if (*bytes++ != head[at]) return wrong(stream, at < PREFIX ? "wrong length" : "wrong counter");
    }
    if (memcmp(bytes, frames->bytes + at, end - at) != 0) return wrong(stream, "wrong content");
    stream->received_part = end;
    if (end == frames->length) {
        stream->received_part = 0;
        stream->received++;
    }
    return 0;
}

int llb_frames_check(const struct llb_frames *frames, struct llb_stream *stream, const uint8_t *bytes, size_t count) {
    const size_t length = frames->length;
    const size_t head = frames->head;
    while (count > 0) {
        if (stream->received_part != 0 || count < length) {
            size_t part = length - stream->received_part;
            if (part > count) part = count;
            if (check_part(frames, stream, bytes, part) < 0) return -1;
            bytes += part;
            count -= part;
            continue;
        }
        // The fast way, for frames that are there as a whole.
        if (memcmp(bytes, frames->bytes, PREFIX) != 0) return wrong(stream, "wrong length");
        if (head > PREFIX) {
            uint64_t value;
            memcpy(&value, bytes + PREFIX, COUNTER);
            if (value != counter(stream, stream->received)) return wrong(stream, "wrong counter");
        }
        if (memcmp(bytes + head, frames->bytes + head, length - head) != 0) return wrong(stream, "wrong content");
        stream->received++;
        bytes += length;
        count -= length;
    }
    if (stream->received > stream->sent) return wrong(stream, "came back before it was sent");
    return 0;
}
