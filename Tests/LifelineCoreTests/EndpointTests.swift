import LifelineCore
import Testing

@Suite("Endpoint")
struct EndpointTests {
    @Test(
        "URLs come back as they were",
        arguments: [
            (Endpoint.tcp("example.com", 7000), "tcp://example.com:7000"), (.tcp("127.0.0.1", 0), "tcp://127.0.0.1:0"),
            (.tcp("::1", 65_535), "tcp://[::1]:65535"), (.tcp("fe80::1%eth0", 1), "tcp://[fe80::1%eth0]:1"), (.tcp("", 80), "tcp://:80"),
            (.tls("chat.example.com", 7000), "tls://chat.example.com:7000"), (.tls("::1", 1), "tls://[::1]:1"),
            (.unix("/run/app.sock"), "unix:///run/app.sock"), (.unix("app.sock"), "unix://app.sock"), (.inMemory("chat"), "memory://chat"),
        ])
    func roundTrip(endpoint: Endpoint, url: String) throws {
        #expect(endpoint.description == url)
        #expect(try Endpoint(url) == endpoint)
    }

    @Test("short forms")
    func shortForms() throws {
        #expect(try Endpoint("localhost:80") == .tcp("localhost", 80))
        #expect(try Endpoint("[::1]:80") == .tcp("::1", 80))
        #expect(try Endpoint("/tmp/x") == .unix("/tmp/x"))
        #expect(try Endpoint("./x") == .unix("./x"))
        #expect(try Endpoint("TCP://h:1") == .tcp("h", 1))
        #expect(try Endpoint("xtcp://h:1".dropFirst()) == .tcp("h", 1))
    }

    @Test(
        "what can't be understood is refused",
        arguments: [
            "", "localhost", "tcp://localhost", "tcp://h:", "tcp://h:65536", "tcp://h:-1", "tcp://h:+1", "tcp://h:80/", "tcp://::1:80",
            "tcp://[::1", "tls://h", "tls://[::1]:", "tcp://[::1]80", "tcp://[::1]", "unix://", "memory://",
        ])
    func refused(text: String) {
        #expect(throws: SocketError(.invalidEndpoint, "")) { try Endpoint(text) }
    }

    @Test("a scheme that isn't known is told apart")
    func unknownScheme() {
        #expect(throws: SocketError(.unsupportedEndpoint, "")) { try Endpoint("http://h:80") }
    }

    @Test("only TCP, with TLS or without, has a port")
    func ports() {
        #expect(Endpoint.tcp("h", 5).port == 5)
        #expect(Endpoint.tls("h", 6).port == 6)
        #expect(Endpoint.unix("/x").port == nil)
        #expect(Endpoint.inMemory("x").port == nil)
    }
}
