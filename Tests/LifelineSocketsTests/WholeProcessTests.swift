import CLifelineSystem
import Glibc
import LifelineCore
import LifelineSockets
import LifelineTesting
import Testing

@testable import LifelineRuntime

/// Connections and servers where a whole process is looked at, each in one of its own.
@Suite(.serialized) struct WholeProcessTests {
    @Test func C54_connectsThatFailKeepNoDescriptor() async {
        await #expect(processExitsWith: .success) {
            try await alone {
                let hole = BlackHole()
                let refused = Raw.refusedPort()
                var before = 0
                for (kind, endpoint) in [
                    Endpoint.tcp("127.0.0.1", refused), .unix("/nonexistent/lifeline"), .tcp("127.0.0.1", hole.port),
                    .tcp("127.0.0.1", hole.port),
                ].enumerated() {
                    for round in 0..<5 {
                        await withTaskGroup { group in
                            for _ in 0..<100 {
                                group.addTask {
                                    await #expect(throws: (any Error).self) {
                                        try await Connection.connect(
                                            to: endpoint, codec: .lines, on: network, within: kind == 2 ? .milliseconds(20) : outerLimit)
                                    }
                                }
                            }
                            if kind == 3 {
                                try? await eventually { [before] in Raw.openSockets() >= before + 100 }
                                group.cancelAll()
                            }
                        }
                        if kind == 0, round == 0 { before = Raw.openSockets() }
                        #expect(Raw.openSockets() == before)
                    }
                }
            }
        }
    }

    @Test func C123_theAddressIsFreeAtOnceAfterAShutdown() async {
        // A process that starts others shares its descriptors with them for a moment, those of listeners that it closes among them.
        await #expect(processExitsWith: .success) {
            try await alone {
                for way in Way.allCases {
                    let place = Place.toReturnTo(way)
                    var endpoint = place.endpoint
                    for _ in 0..<20 {
                        let server = try await Server.bind(endpoint, codec: .lines, on: peerNetwork)
                        endpoint = server.endpoint
                        try await serving(server, echo) {
                            try await bounded {
                                await expectError(.addressInUse) {
                                    try await Server.bind(server.endpoint, codec: .lines, on: peerNetwork)
                                }
                                for number in 0..<3 {
                                    let client = try await Connection.connect(
                                        to: server.endpoint, codec: .lines, on: network, within: outerLimit)
                                    try await expectEcho("\(number)", on: client)
                                    // One stays and is closed by the server.
                                    if number > 0 { await client.close() }
                                }
                            }
                        }
                    }
                }
            }
        }
    }

    @Test func C56_aReaderThatLeavesHoldsThePeerUp() async {
        await #expect(processExitsWith: .success) {
            try await alone {
                let size = 64 * 1024
                let link = try await link(framed)
                let (connection, peer) = (link.connection, link.peer)
                let block = Bytes([UInt8](repeating: 7, count: size))
                let wire = Bytes([0, 1, 0, 0] + Array(block))
                // What is needed once is there.
                for _ in 0..<200 {
                    try await peer.write(wire)
                    #expect(try await connection.next()?.count == size)
                }
                let before = Raw.residentMemory()
                try await withThrowingTaskGroup { group in
                    group.addTask {
                        for _ in 0..<1024 { try await peer.write(wire) }
                        try await peer.finishSending()
                    }
                    var count = 0
                    for try await frame in connection.messages {
                        #expect(frame.count == size)
                        count += 1
                        if count == 2 { break }
                    }
                    // Nothing moves any more: this side doesn't read, and the peer's kernel takes nothing.
                    try await eventually { peer.core.outbox.waitingSenders == 1 }
                    try await eventually(on: connection.core.loop) { !connection.core.isReading }
                    try await eventually(on: peer.core.loop) { peer.core.isWriteBlocked }
                    expectMemory(atMost: before + (8 << 20))
                    // A later loop gets the rest.
                    for try await frame in connection.messages {
                        expectSame(frame, block)
                        count += 1
                        if count % 128 == 0 { expectMemory(atMost: before + (8 << 20)) }
                    }
                    #expect(count == 1024)
                    try await group.waitForAll()
                }
                await connection.close()
                await peer.close()
            }
        }
    }

    @Test func C127_writingToAClientThatHasGoneDoesNotEndTheProcess() async {
        await #expect(processExitsWith: .success) {
            try await alone {
                signal(SIGPIPE, SIG_DFL)
                for way in Way.allCases {
                    let place = Place(way)
                    let server = try await Server.bind(place.endpoint, codec: .lines, on: peerNetwork, options: .quiet())
                    let failures = Mailbox<SocketError>()
                    let handler: @Sendable (Connection<LineCodec>) async throws -> Void = { connection in
                        while try await connection.next() == "ready" {}
                        var count = 0
                        while count < 3 {
                            do {
                                try await connection.send("x")
                                try await connection.flush()
                            } catch let error as SocketError {
                                failures.put(error)
                                count += 1
                            }
                        }
                    }
                    try await serving(server, handler) {
                        for isReset in [true, false] {
                            let client = try await ByteStream.connect(to: server.endpoint, on: network)
                            try await client.write(Bytes("go\n"))
                            try await client.flush()
                            if isReset { client.reset() } else { client.closeNow() }
                            for _ in 0..<3 { #expect(try await failures.next().code == .closed) }
                        }
                    }
                }
                var action = sigaction()
                sigaction(SIGPIPE, nil, &action)
                #expect(action.__sigaction_handler.sa_handler == nil)
            }
        }
    }

    @Test func C131_nothingIsLeftOfConnectionsThatHaveGone() async {
        await #expect(processExitsWith: .success) {
            try await alone {
                for way in Way.allCases {
                    let place = Place(way)
                    let server = try await Server.bind(place.endpoint, codec: framed, on: peerNetwork, options: .quiet())
                    let gone = Mailbox<Traces>()
                    let handler: @Sendable (Connection<LengthPrefixCodec>) async throws -> Void = { connection in
                        gone.put(Traces(connection))
                        try await echo(connection)
                    }
                    try await serving(server, handler) {
                        var descriptors = 0
                        var memory = 0
                        for round in 0..<150 {
                            var traces: [Traces] = []
                            for ending in Ending.allCases where ending != .idleLimit || round % 10 == 0 {
                                traces += try await oneLife(ending, way)
                                // And with a server's connection at the other end.
                                traces.append(try await oneVisit(ending, server.endpoint))
                                traces.append(try await gone.next())
                            }
                            let all = traces
                            try await eventually { server.connections.isEmpty && all.allSatisfy(\.areGone) }
                            if round == 50 {
                                descriptors = Raw.openSockets()
                                memory = Raw.residentMemory()
                            }
                        }
                        #expect(Raw.openSockets() == descriptors)
                        expectMemory(atMost: memory + (4 << 20))
                    }
                }
            }
        }
    }

    @Test func aServerSurvivesTwoThousandClientsThatConnectAndReset() async {
        await #expect(processExitsWith: .success) {
            try await alone {
                let server = try await Server.bind(
                    .tcp("127.0.0.1", 0), codec: .lines, on: SystemNetwork(loops: EventLoops(count: 2)), options: .quiet())
                try await serving(server, echo) {
                    let port = try #require(server.endpoint.port)
                    let good = try await Connection.connect(to: server.endpoint, codec: .lines, on: network)
                    try await expectEcho("before", on: good)
                    let before = Raw.openSockets()
                    for round in 0..<20 {
                        for number in 0..<100 {
                            let client = Raw.connect(port)
                            if number % 3 == 0 { Raw.write(client, "half a li") }
                            if number % 3 == 1 { Raw.write(client, "a line\n") }
                            if number % 10 != 0 { _ = lls_set_reset_on_close(client) }
                            close(client)
                        }
                        try await expectEcho("\(round)", on: good)
                    }
                    let late = try await Connection.connect(to: server.endpoint, codec: .lines, on: network)
                    try await expectEcho("late", on: late)
                    await late.close()
                    try await eventually { server.connections.count == 1 && Raw.openSockets() == before }
                    await good.close()
                }
            }
        }
    }

    @Test func aServerRecoversWhenDescriptorsRunOut() async {
        await #expect(processExitsWith: .success) {
            try await alone {
                let errors = Mailbox<SocketError>()
                let server = try await Server.bind(
                    .tcp("127.0.0.1", 0), codec: .lines, on: peerNetwork, options: .quiet { $0.onAcceptError = { errors.put($0) } })
                try await serving(server, echo) {
                    let first = try await Connection.connect(to: server.endpoint, codec: .lines, on: network)
                    try await expectEcho("first", on: first)
                    let clients = (0..<5).map { _ in socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0) }
                    let highest = try #require(clients.max())
                    var limit = rlimit()
                    getrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit)
                    let usual = limit
                    limit.rlim_cur = rlim_t(highest + 1)
                    setrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit)
                    // Whatever is free below the limit.
                    var fillers: [Int32] = []
                    while true {
                        let filler = dup(0)
                        if filler < 0 { break }
                        fillers.append(filler)
                    }
                    var address = Raw.loopback(try #require(server.endpoint.port))
                    for client in clients { #expect(lls_connect(client, &address) == 0) }
                    for _ in 0..<3 { #expect(try await errors.next().code == .resourcesExhausted) }
                    // Those that are there are served all the same; no other connects.
                    try await expectEcho("still", on: first)
                    await expectError(.resourcesExhausted) {
                        try await Connection.connect(to: server.endpoint, codec: .lines, on: network)
                    }
                    limit = usual
                    setrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit)
                    for filler in fillers { close(filler) }
                    // Those that waited are served now.
                    for client in clients {
                        let late = try await Connection.adopting(client, codec: .lines, on: network)
                        try await expectEcho("late", on: late)
                        await late.close()
                    }
                    let last = try await Connection.connect(to: server.endpoint, codec: .lines, on: network)
                    try await expectEcho("last", on: last)
                    await last.close()
                    await first.close()
                }
            }
        }
    }

    @Test func C144_aHandlerThatBlocksItsThreadHoldsUpNoOtherLoop() async {
        await #expect(processExitsWith: .success) {
            try await alone {
                // In the pool of threads and on an event loop.
                for handlers in [ServerOptions.Handlers.pool, .loop] {
                    let server = try await Server.bind(
                        .tcp("127.0.0.1", 0), codec: .lines, on: SystemNetwork(loops: EventLoops(count: 2)),
                        options: .quiet { $0.handlers = handlers })
                    var ends: [Int32] = [0, 0]
                    #expect(pipe(&ends) == 0)
                    let (reading, writing) = (ends[0], ends[1])
                    let isBlocking = Mailbox<Bool>()
                    let handler: @Sendable (Connection<LineCodec>) async throws -> Void = { connection in
                        while let line = try await connection.next() {
                            if line == "block" {
                                isBlocking.put(true)
                                var byte: UInt8 = 0
                                _ = read(reading, &byte, 1)
                            }
                            try await connection.send(line)
                        }
                    }
                    try await serving(server, handler) {
                        var clients: [Connection<LineCodec>] = []
                        for number in 0..<4 {
                            clients.append(try await Connection.connect(to: server.endpoint, codec: .lines, on: network))
                            try await expectEcho("\(number)", on: clients[number])
                        }
                        let blocked = clients[0]
                        try await blocked.send("block")
                        #expect(try await isBlocking.next())
                        // On a loop those of that loop have to wait.
                        let loop = server.connections[0].core.loop
                        for (client, served) in zip(clients, server.connections).dropFirst()
                        where handlers == .pool || served.core.loop !== loop {
                            for round in 0..<50 { try await expectEcho("\(round)", on: client) }
                        }
                        var byte: UInt8 = 1
                        #expect(write(writing, &byte, 1) == 1)
                        #expect(try await blocked.next(within: outerLimit) == "block")
                        for client in clients { await client.close() }
                    }
                    close(reading)
                    close(writing)
                }
            }
        }
    }
}

/// The body of a test that has a process to itself: one that hangs is killed, and what it throws is told.
func alone(_ body: () async throws -> Void) async throws {
    alarm(180)
    do {
        // What tests need once is there, so that no count moves for it.
        try await openThePoolsDescriptors()
        for network in [network, peerNetwork] {
            for loop in network._driver.base.loops { try await loop.perform {} }
        }
        try await body()
    } catch {
        let words = "\(error)\n"
        lls_complain(words, words.utf8.count)
        throw error
    }
}

/// Expects this process to stand in no more memory than so many bytes. (Sanitizers keep what was given back, and notes of it.)
func expectMemory(atMost most: Int, sourceLocation: SourceLocation = #_sourceLocation) {
    if dlsym(nil, "__asan_init") != nil || dlsym(nil, "__tsan_init") != nil { return }
    #expect(Raw.residentMemory() <= most, sourceLocation: sourceLocation)
}

/// What must not outlive a connection.
struct Traces: Sendable {
    private final class Weak<Object: AnyObject & Sendable>: Sendable {
        weak let object: Object?
        init(_ object: Object) { self.object = object }
    }

    private let connection: Weak<Connection<LengthPrefixCodec>>
    private let core: Weak<StreamCore>
    private let outbox: Weak<Outbox>
    private let transport: Weak<SocketTransport>?

    init(_ connection: Connection<LengthPrefixCodec>) {
        self.connection = Weak(connection)
        core = Weak(connection.core)
        outbox = Weak(connection.core.outbox)
        transport = (connection.core.transport as? SocketTransport).map { Weak($0) }
    }

    var areGone: Bool { connection.object == nil && core.object == nil && outbox.object == nil && transport?.object == nil }
}

/// A connection's life between two ends of ours.
private func oneLife(_ ending: Ending, _ way: Way) async throws -> [Traces] {
    let link = try await link(framed, way, options: ending.options)
    // Its limit is too short for anything else.
    if ending != .idleLimit {
        try await link.connection.send(Bytes("hello"))
        try await link.peer.write(frame("hello"))
        #expect(try await link.connection.next() != nil)
    }
    try await ending.happen(to: link)
    return [Traces(link.connection)]
}

/// A connection's life with a server, whose side comes to its end in the same way.
private func oneVisit(_ ending: Ending, _ endpoint: Endpoint) async throws -> Traces {
    let stream = try await ByteStream.connect(to: endpoint, on: network)
    try await stream.write(frame("hello"))
    #expect(try await stream.read(with: framed, within: outerLimit) != nil)
    let connection = try await stream.framed(with: framed)
    switch ending {
    case .ownClose, .peerClose, .idleLimit, .finishedBoth:
        try await connection.finishSending()
        _ = try? await connection.next()
        await connection.close(within: outerLimit)
    case .ownCloseNow, .cancelledOwner: connection.closeNow()
    case .peerReset:
        stream.core.loop.run {
            stream.core.transport.close(reset: true)
            stream.core.closeNow()
        }
    case .violation, .truncation: break  // Dropped.
    }
    return Traces(connection)
}
