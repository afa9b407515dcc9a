"""The peer of the interop tests that is made of Python's ssl module, without a socket of its own: it decides which bytes go to TCP, when, and
how TCP ends.

    python3 tls_end_peer.py SECONDS serve MODE VERSION CERTIFICATE KEY    one connection, at a free port of loopback; says "READY port"
    python3 tls_end_peer.py SECONDS connect PORT MODE VERSION CA          one connection to loopback

VERSION is 1.2 or 1.3. A frame is four bytes of length, big-endian, and so many bytes. MODE says what happens in place of a handshake:

    silent            nothing, and neither for the connections that follow
    half-handshake    half of a record, then nothing
    fin-in-handshake  half of a record, then the end
    garbage           an answer in plain HTTP, and the end

or behind it:

    clean             a frame, close_notify and the end, in one segment
    burst             fifty frames, close_notify and the end, in one segment
    at-border         a frame, then the end of TCP without close_notify
    mid-frame         half of a frame, then the same
    rst               a frame, then, once there is a line on standard input, a reset
    no-notice         "partial", then the end of TCP without close_notify
    ignore-notice     a frame; close_notify isn't answered, TCP stays open
    eager             a frame, at once; tells what comes: HEARD and how many bytes of data, at the end

or before it, in plain lines that end with CR LF:

    starttls          as the server: takes STARTTLS, answers OK; as the client: the reverse. Behind the handshake lines are echoed, or one
                      is sent and its echo told; how many lines were echoed is told at the end
    starttls-evil     the same, with EVIL in the same segment as the last plain line

What it sees is told on standard output, a line for each fact. It ends after SECONDS, and when its standard input is closed.
"""

import os
import signal
import socket
import ssl
import struct
import sys
import threading


told_to_go_on = threading.Event()


def follow_input():
    """A line of it lets a mode that waits go on."""
    for _ in sys.stdin:
        told_to_go_on.set()
    os._exit(0)


def say(*words):
    print(*words, flush=True)


def frame(payload):
    return struct.pack(">I", len(payload)) + payload


class Secured:
    """TLS over a TCP connection; what it has to send waits until it is flushed."""

    def __init__(self, tcp, context, is_server):
        self.tcp = tcp
        self.inward, self.outward = ssl.MemoryBIO(), ssl.MemoryBIO()
        name = None if is_server else "localhost"
        self.tls = context.wrap_bio(self.inward, self.outward, server_side=is_server, server_hostname=name)

    def flush(self):
        waiting = self.outward.read()
        if waiting:
            self.tcp.sendall(waiting)

    def take(self):
        """Waits for bytes of TCP; false at its end."""
        piece = self.tcp.recv(65536)
        self.inward.write(piece) if piece else self.inward.write_eof()
        return bool(piece)

    def handshake(self):
        while True:
            try:
                self.tls.do_handshake()
                return self.flush()
            except ssl.SSLWantReadError:
                self.flush()
                if not self.take():
                    raise ssl.SSLError("TCP has ended") from None

    def read(self):
        """Some data; empty behind close_notify. Throws at an end without it."""
        while True:
            try:
                return self.tls.read(65536)
            except ssl.SSLZeroReturnError:
                return b""
            except ssl.SSLWantReadError:
                self.flush()
                self.take()

    def line(self):
        line = b""
        while not line.endswith(b"\n"):
            piece = self.read()
            if not piece:
                return None
            line += piece
        return line

    def notify(self):
        """Queues close_notify."""
        try:
            self.tls.unwrap()
        except ssl.SSLWantReadError:
            pass

    def tell_rest(self):
        """Reads to the end, and tells which it was."""
        count = 0
        try:
            while piece := self.read():
                count += len(piece)
            say("HEARD", count, "NOTICE")
        except (ssl.SSLError, OSError) as error:
            say("HEARD", count, getattr(error, "reason", None) or type(error).__name__)


def instead_of_handshake(tcp, mode, is_server):
    if is_server and mode != "silent":
        tcp.recv(65536)
    if mode == "garbage":
        tcp.sendall(b"HTTP/1.0 400 Bad Request\r\n\r\n")
        tcp.shutdown(socket.SHUT_WR)
    elif mode != "silent":
        # The head of a record of 80 bytes, of a handshake, and a part of its body.
        tcp.sendall(bytes.fromhex("1603030050") + bytes.fromhex("0200004c0303" if is_server else "0100004c0303") + bytes(20))
        if mode == "fin-in-handshake":
            tcp.shutdown(socket.SHUT_WR)
    try:
        while tcp.recv(65536):
            pass
        say("END")
    except OSError as error:
        say("END", type(error).__name__)


def plain_line(tcp):
    line = b""
    while not line.endswith(b"\r\n"):
        byte = tcp.recv(1)
        if not byte:
            return None
        line += byte
    return line.decode().strip()


def start(tcp, mode, is_server):
    """The plain part of an upgrade."""
    evil = b"EVIL\r\n" if mode == "starttls-evil" else b""
    if is_server:
        say("ASKED", plain_line(tcp))
        tcp.sendall(b"OK\r\n" + evil)
    else:
        tcp.sendall(b"STARTTLS\r\n" + evil)
        say("TOLD", plain_line(tcp))


def behind_handshake(peer, tcp, mode, is_server):
    if mode in ("clean", "burst"):
        for number in range(50 if mode == "burst" else 1):
            peer.tls.write(frame(b"frame %d" % number))
        peer.notify()
        peer.flush()
        tcp.shutdown(socket.SHUT_WR)
        return peer.tell_rest()
    if mode in ("at-border", "mid-frame", "rst", "no-notice"):
        whole = frame(b"frame 0")
        peer.tls.write({"mid-frame": whole[:7], "no-notice": b"partial"}.get(mode, whole))
        peer.flush()
        if mode == "rst":
            # Not before the other side has everything: a reset throws away what is on the way.
            say("SENT")
            told_to_go_on.wait()
            tcp.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
            return tcp.close()
        tcp.shutdown(socket.SHUT_WR)
        return peer.tell_rest()
    if mode in ("ignore-notice", "eager"):
        peer.tls.write(frame(b"frame 0"))
        peer.flush()
        say("SENT")
        peer.tell_rest()
        # To the end of TCP, if it comes.
        while tcp.recv(65536):
            pass
        return say("END")
    if is_server:
        count = 0
        try:
            while line := peer.line():
                count += line.count(b"\n")
                peer.tls.write(line)
                peer.flush()
        finally:
            say("ECHOED", count)
        return
    peer.tls.write(b"hello\r\n")
    peer.flush()
    say("ANSWERED", peer.line())
    peer.notify()
    peer.flush()
    tcp.shutdown(socket.SHUT_WR)
    peer.tell_rest()


def speak(tcp, context, mode, is_server):
    tcp.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    if mode in ("silent", "half-handshake", "fin-in-handshake", "garbage"):
        return instead_of_handshake(tcp, mode, is_server)
    if mode.startswith("starttls"):
        start(tcp, mode, is_server)
    peer = Secured(tcp, context, is_server)
    try:
        peer.handshake()
    except (ssl.SSLError, OSError) as error:
        return say("NO HANDSHAKE", getattr(error, "reason", None) or type(error).__name__)
    say("SECURED", peer.tls.version())
    try:
        behind_handshake(peer, tcp, mode, is_server)
    except OSError as error:
        say("ERROR", type(error).__name__)


def main(seconds, role, *rest):
    signal.signal(signal.SIGALRM, lambda *_: os._exit(3))
    signal.alarm(int(seconds))
    threading.Thread(target=follow_input, daemon=True).start()
    is_server = role == "serve"
    port, mode, version, *files = (["0"] if is_server else []) + list(rest)
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER if is_server else ssl.PROTOCOL_TLS_CLIENT)
    context.minimum_version = context.maximum_version = {"1.2": ssl.TLSVersion.TLSv1_2, "1.3": ssl.TLSVersion.TLSv1_3}[version]
    if is_server:
        context.load_cert_chain(*files)
        listener = socket.create_server(("127.0.0.1", 0))
        say("READY", listener.getsockname()[1])
        tcp, _ = listener.accept()
        if mode == "silent":
            # Nobody is turned away, or answered, until the test ends.
            instead_of_handshake(tcp, mode, is_server)
            threading.Event().wait()
        listener.close()
    else:
        context.load_verify_locations(*files)
        tcp = socket.create_connection(("127.0.0.1", int(port)))
    speak(tcp, context, mode, is_server)
    tcp.close()
    say("DONE")


main(*sys.argv[1:])
