import CLifelineSystem
import Glibc
import LifelineCore
import LifelineRuntime
import LifelineSockets
import Synchronization
import Testing

struct DialTests {
    private let group = EventLoops(count: 1)

    private func dial(
        _ endpoint: Endpoint, within limit: Duration = .seconds(5), resolver: any HostResolver = SystemResolver.shared
    ) async throws -> any Transport {
        let driver = SystemDriver(group, resolver: resolver)
        return try await driver.dial(endpoint, on: driver.nextLoop(), options: SocketOptions(), within: limit)
    }

    /// The error of a dial that must fail.
    private func failure(
        _ endpoint: Endpoint, within limit: Duration = .seconds(5), resolver: any HostResolver = SystemResolver.shared
    ) async -> SocketError? {
        await #expect(throws: SocketError.self) { try await dial(endpoint, within: limit, resolver: resolver).close() }
    }

    @Test func C36_waysNotToConnectAreToldApart() async throws {
        let refused = await failure(.tcp("127.0.0.1", Raw.refusedPort()))
        #expect(refused?.code == .refused)
        #expect(refused?.errno == ECONNREFUSED)

        let missing = await failure(.unix("/nonexistent/lifeline"))
        #expect(missing?.code == .refused)
        #expect(missing?.errno == ENOENT)

        let hole = BlackHole()
        let silent = await failure(.tcp("127.0.0.1", hole.port), within: .milliseconds(50))
        #expect(silent?.code == .timedOut)
        #expect(silent?.phase == .connect)
        withExtendedLifetime(hole) {}

        let unknown = await failure(.tcp("no-such-host.invalid", 7))
        #expect(unknown?.code == .unknownHost)
        #expect(unknown?.cause is ResolverFailure)

        #expect(await failure(.tcp("", 7))?.code == .invalidEndpoint)
        #expect(await failure(.tcp("a\0b", 7))?.code == .invalidEndpoint)
        #expect(await failure(.inMemory("x"))?.code == .unsupportedEndpoint)
        #expect(await failure(.tcp("127.0.0.1", 7), within: .zero)?.code == .timedOut)
    }

    @Test func C36_aPeersCloseAndAResetAreToldApart() async throws {
        let pair = try await Pair()
        let client = try await Stream(pair.client)
        let server = pair.server
        try await server.loop.perform { server.close(reset: true) }
        #expect(try await client.rest().reason.error?.code == .reset)
        await pair.close()

        let polite = try await Pair()
        let other = try await Stream(polite.client)
        try await polite.server.close()
        #expect(try await other.rest().reason == .closedByPeer)
        await polite.close()
    }

    @Test func aResetThatAWriteFindsIsNoCleanEnd() async throws {
        let pair = try await Pair()
        let (client, server) = (pair.client, pair.server)
        try await server.loop.perform { server.close(reset: true) }
        // The write takes the error from the socket; the read behind it must know all the same.
        let written = await #expect(throws: SocketError.self) {
            while true { _ = try await client.loop.perform { try client.write([Bytes("x")]) } }
        }
        #expect(written?.code == .reset)
        let read = await #expect(throws: SocketError.self) { try await client.readOnce() }
        #expect(read?.code == .reset)
        await pair.close()
    }

    @Test func C30_whatWasSentBeforeTheCloseIsRead() async throws {
        let pair = try await Pair()
        let server = pair.server
        try await server.loop.perform {
            for number in 0..<5 { _ = try server.write([Bytes("frame \(number)\n")]) }
            server.close(reset: false)
        }
        let client = try await Stream(pair.client)
        let (bytes, reason) = try await client.rest()
        #expect(String(decoding: bytes, as: UTF8.self) == "frame 0\nframe 1\nframe 2\nframe 3\nframe 4\n")
        #expect(reason == .closedByPeer)
        await pair.close()
    }

    @Test func C40_acceptThenImmediateClose() async throws {
        let driver = SystemDriver(group)
        let sink = ClosingSink()
        let listener = try await driver.listen(
            .tcp("127.0.0.1", 0), on: driver.nextLoop(), dealingTo: [], options: SocketOptions(), sink: sink)
        for _ in 0..<500 {
            let client = try await Stream(try await dial(listener.endpoint))
            let reason = try await client.rest().reason
            #expect(reason == .closedByPeer || reason.error?.code == .reset)
            try await client.closeNow()
        }
        await listener.close()
    }

    @Test func aSocketThatConnectsToItselfIsRefused() async throws {
        // Bound to its own target, as it can happen with any port that the system hands out.
        let descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
        var address = Raw.loopback(0)
        _ = lls_bind(descriptor, &address)
        _ = lls_local_address(descriptor, &address)
        #expect(lls_connect(descriptor, &address) == 0)
        let transport = try #require(try await SystemNetwork().adopt(descriptor) as? SocketTransport)
        #expect(try await transport.loop.perform { transport.isConnectedToItself })
        try await transport.close()
    }

    @Test func C130_aRefusedAddressIsPassedOver() async throws {
        let (listener, port) = Raw.listen()
        let hosts = FixedResolver(["::1", "127.0.0.1"])
        let transport = try await dial(.tcp("two.test", port), resolver: hosts)
        #expect(try await transport.loop.perform { transport.remoteEndpoint } == .tcp("127.0.0.1", port))
        try await transport.close()
        close(listener)
    }

    @Test func C130_aSilentAddressTakesOnlyItsShareOfTheTime() async throws {
        let hole = BlackHole()
        let good = lls_socket(Int32(LLS_V6))
        var address = lls_address()
        var ip = lls_ip()
        _ = lls_parse_ip("::1", &ip)
        ip.port = hole.port
        lls_make_address(&ip, &address)
        try #require(lls_bind(good, &address) == 0 && lls_listen(good, 4) == 0)
        // If the silent one took all of the time, the whole would fail at its limit.
        let transport = try await dial(
            .tcp("two.test", hole.port), within: .seconds(2), resolver: FixedResolver(["127.0.0.1", "::1"]))
        #expect(try await transport.loop.perform { transport.remoteEndpoint } == .tcp("::1", hole.port))
        try await transport.close()
        close(good)
    }

    @Test func C130_allBadAddressesAreListed() async throws {
        let port = Raw.refusedPort()
        let error = await failure(.tcp("bad.test", port), resolver: FixedResolver(["::1", "127.0.0.1", "127.0.0.2"]))
        #expect(error?.code == .allAddressesFailed)
        #expect((error?.cause as? SocketError)?.code == .refused)
        for address in ["[::1]", "127.0.0.1", "127.0.0.2"] { #expect(error?.message.contains("\(address):\(port)") == true) }

        let hole = BlackHole()
        let silent = await failure(
            .tcp("silent.test", hole.port), within: .milliseconds(60), resolver: FixedResolver(["127.0.0.1", "127.0.0.1"]))
        #expect(silent?.code == .timedOut)
        #expect(silent?.phase == .connect)
        withExtendedLifetime(hole) {}
    }

    @Test func C79_aResolverThatHangsEndsAtTheLimitAndAtCancellation() async throws {
        let gate = Gate()
        let resolver = SystemResolver(atMost: 2) { _ in
            gate.wait()
            return .failure(SocketError(.unknownHost, "never"))
        }
        // More than may run at once.
        await withTaskGroup { tasks in
            for _ in 0..<6 {
                tasks.addTask {
                    let error = await failure(.tcp("slow.test", 7), within: .milliseconds(50), resolver: resolver)
                    #expect(error?.code == .timedOut)
                    #expect(error?.phase == .resolve)
                }
            }
        }
        let task = Task { try await dial(.tcp("slow.test", 7), resolver: resolver) }
        task.cancel()
        await #expect(throws: CancellationError.self) { try await task.value }
        gate.open()
    }

    @Test func lookUpsBeyondTheBoundWaitInOrder() async throws {
        let gate = Gate()
        let running = Atomic(0)
        let most = Atomic(0)
        let started = Mailbox<String>()
        let resolver = SystemResolver(atMost: 2) { host in
            let now = running.add(1, ordering: .sequentiallyConsistent).newValue
            most.max(now, ordering: .sequentiallyConsistent)
            started.put(host)
            gate.wait()
            running.subtract(1, ordering: .sequentiallyConsistent)
            return IPAddress.loopback.map { .success([$0]) } ?? .failure(SocketError(.unknownHost, "none"))
        }
        let loop = group.next()
        try await withThrowingTaskGroup { tasks in
            for number in 0..<10 {
                tasks.addTask {
                    try await resolver.addresses(of: "\(number)", port: 7, within: outerLimit, on: loop)
                }
            }
            _ = try await started.next()
            _ = try await started.next()
            gate.open()
            for try await found in tasks { #expect(found.map(\.port) == [7]) }
        }
        let peak = most.load(ordering: .sequentiallyConsistent)
        #expect(peak == 2)
    }

    @Test func aNameOfThisHostIsFound() async throws {
        let (listener, port) = Raw.listen()
        let transport = try await dial(.tcp("localhost", port))
        try await transport.close()
        close(listener)
    }
}

private final class ClosingSink: ListenerSink {
    func accepted(_ transport: any Transport) { transport.close(reset: false) }
    func acceptFailed(_ error: SocketError) { Issue.record("accepting failed: \(error)") }
}

/// Answers with the same addresses, at once.
struct FixedResolver: HostResolver {
    let hosts: [String]

    init(_ hosts: [String]) { self.hosts = hosts }

    func addresses(of host: String, port: UInt16, within limit: Duration, on loop: any EventLoop) async throws -> [IPAddress] {
        try hosts.compactMap { try IPAddress($0, port: port) }
    }
}

extension IPAddress {
    static var loopback: IPAddress? { try? IPAddress("127.0.0.1", port: 0) }
}

/// Holds threads up until it is opened.
private final class Gate: Sendable {
    private let ends: (Int32, Int32) = Raw.pair()

    func wait() {
        var byte: UInt8 = 0
        _ = recv(ends.0, &byte, 1, Int32(MSG_PEEK))
    }

    func open() { Raw.write(ends.1, "!") }

    deinit {
        close(ends.0)
        close(ends.1)
    }
}
