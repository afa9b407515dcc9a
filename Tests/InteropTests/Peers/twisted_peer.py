"""The peer of the interop tests that is made of Twisted's own receivers, with their own limits.

    python twisted_peer.py SECONDS serve NAME...           listens at a free port of loopback for each and says "READY port..."
    python twisted_peer.py SECONDS connect NAME=PORT...    connects to loopback, sends messages and compares what comes back

NAME is int32, int16, line (CR LF ends one) or netstring. Behind it may stand @ and what TLS takes: the paths of a certificate and its key,
with a comma between them, for a server; that of an authority, for a client, which asks for localhost. What it sees is told on standard
output, a line for each fact. It ends after SECONDS, and when its standard input is closed.
"""

import os
import random
import sys
import threading

from twisted.internet import endpoints, reactor
from twisted.internet.protocol import Factory
from twisted.protocols import basic, policies

RECEIVERS = {
    "int32": basic.Int32StringReceiver,
    "int16": basic.Int16StringReceiver,
    "line": basic.LineReceiver,
    "netstring": basic.NetstringReceiver,
}


def say(*words):
    print(*words, flush=True)


class Speaker:
    """What lines and strings have in common."""

    name = ""

    def stringReceived(self, message):
        self.received(message)

    lineReceived = stringReceived

    def send(self, message):
        (self.sendLine if self.name == "line" else self.sendString)(message)


class Echo(Speaker):
    """Sends back what comes. What is beyond its limit, or isn't a message, ends the connection: that is the receivers' own rule."""

    def received(self, message):
        self.send(message)


class Compare(Speaker):
    """Sends two hundred short messages, an empty one and one of exactly the receiver's limit, and ends when they are back."""

    def connectionMade(self):
        longest = 65535 if self.name == "int16" else self.MAX_LENGTH
        self.waiting = [f"message {index} é€😀".encode() for index in range(200)]
        self.waiting += [b"", b"0123456789" * (longest // 10) + b"x" * (longest % 10), b"last"]
        self.count = 0
        for message in self.waiting:
            self.send(message)

    def received(self, message):
        if message != self.waiting.pop(0):
            say(self.name, "DIFFERENT", self.count)
            self.transport.loseConnection()
            return
        self.count += 1
        if not self.waiting:
            say(self.name, "SAME", self.count)
            self.transport.loseConnection()

    def connectionLost(self, reason):
        say(self.name, "CLOSED", reason.type.__name__)


class Cutter(policies.ProtocolWrapper):
    """Writes in pieces that are cut anywhere, one in each turn of the reactor."""

    def makeConnection(self, transport):
        self.random = random.Random(5)
        self.unwritten = bytearray()
        self.isWriting = self.isEnding = False
        transport.setTcpNoDelay(True)
        super().makeConnection(transport)

    def write(self, data):
        self.unwritten += data
        if not self.isWriting:
            self.isWriting = True
            reactor.callLater(0, self.writePiece)

    def writeSequence(self, pieces):
        self.write(b"".join(pieces))

    def writePiece(self):
        count = self.random.randint(1, 12 if self.random.random() < 0.5 else 5000)
        self.transport.write(bytes(self.unwritten[:count]))
        del self.unwritten[:count]
        self.isWriting = bool(self.unwritten)
        if self.isWriting:
            reactor.callLater(0, self.writePiece)
        elif self.isEnding:
            super().loseConnection()

    def loseConnection(self):
        self.isEnding = True
        if not self.isWriting:
            super().loseConnection()


class Cutting(policies.WrappingFactory):
    protocol = Cutter
    noisy = False


def factory(name, role):
    factory = Factory.forProtocol(type(name, (role, RECEIVERS[name]), {"name": name}))
    factory.noisy = False
    return Cutting(factory)


def listen(name):
    """Listens for what NAME says."""
    name, _, files = name.partition("@")
    if not files:
        return reactor.listenTCP(0, factory(name, Echo), interface="127.0.0.1")
    from twisted.internet import ssl
    certificate, key = files.split(",")
    return reactor.listenSSL(0, factory(name, Echo), ssl.DefaultOpenSSLContextFactory(key, certificate), interface="127.0.0.1")


def connect(name, port):
    """Connects for what NAME says."""
    name, _, authority = name.partition("@")
    endpoint = endpoints.TCP4ClientEndpoint(reactor, "127.0.0.1", port)
    if authority:
        from twisted.internet import ssl
        trust = ssl.Certificate.loadPEM(open(authority).read())
        endpoint = endpoints.wrapClientTLS(ssl.optionsForClientTLS("localhost", trustRoot=trust), endpoint)
    endpoint.connect(factory(name, Compare)).addErrback(lambda failure: say(name, "ERROR", failure.value))


def main(seconds, mode, *names):
    reactor.callLater(int(seconds), os._exit, 3)
    threading.Thread(target=lambda: (sys.stdin.read(), os._exit(0)), daemon=True).start()
    if mode == "serve":
        say("READY", *(listen(name).getHost().port for name in names))
    else:
        for name, port in (pair.split("=") for pair in names):
            connect(name, int(port))
    reactor.run()


main(*sys.argv[1:])
