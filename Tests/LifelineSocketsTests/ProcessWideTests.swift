import CLifelineSystem
import Glibc
import LifelineCore
import LifelineRuntime
import LifelineSockets
import Testing

/// What concerns a whole process, each in one of its own: its descriptors, their limit, its signals.
struct ProcessWideTests {
    @Test func C54_noWayNotToConnectKeepsADescriptor() async {
        await #expect(processExitsWith: .success) {
            let group = EventLoops(count: 2)
            let driver = SystemDriver(group)
            let hole = BlackHole()
            let refused = Raw.refusedPort()
            try await after(.milliseconds(1))
            var before = 0
            for kind in 0..<4 {
                for round in 0..<6 {
                    await withTaskGroup { tasks in
                        for _ in 0..<100 {
                            tasks.addTask {
                                let endpoint: Endpoint =
                                    switch kind {
                                    case 0: .tcp("127.0.0.1", refused)
                                    case 1: .unix("/nonexistent/lifeline")
                                    default: .tcp("127.0.0.1", hole.port)
                                    }
                                let limit = kind == 2 ? Duration.milliseconds(20) : .seconds(20)
                                await #expect(throws: (any Error).self) {
                                    try await driver.dial(
                                        endpoint, on: driver.nextLoop(), options: SocketOptions(), within: limit)
                                }
                            }
                        }
                        if kind == 3 {
                            try? await after(.milliseconds(20))
                            tasks.cancelAll()
                        }
                    }
                    // What everything else opens once is open after the first round.
                    if kind == 0, round == 0 { before = Raw.openSockets() }
                    // Every call has returned, so nothing may be left, not even for a moment.
                    #expect(Raw.openSockets() == before)
                }
            }
        }
    }

    @Test func cancelledConnectsThatWouldSucceedKeepNothing() async {
        await #expect(processExitsWith: .success) {
            let driver = SystemDriver(EventLoops(count: 2))
            let sink = Sink()
            let listener = try await driver.listen(
                .tcp("127.0.0.1", 0), on: driver.nextLoop(), dealingTo: [], options: SocketOptions(), sink: sink)
            try await after(.milliseconds(1))
            var before = 0
            for round in 0..<600 {
                if round == 100 {
                    for transport in sink.transports.all { try await transport.close() }
                    before = Raw.openSockets()
                }
                let task = Task {
                    try await driver.dial(listener.endpoint, on: driver.nextLoop(), options: SocketOptions(), within: outerLimit)
                }
                task.cancel()
                if let transport = try? await task.value { try await transport.close() }
            }
            await listener.close()
            for transport in sink.transports.all { try await transport.close() }
            #expect(Raw.openSockets() < before)
        }
    }

    @Test func acceptingRestsWhenDescriptorsRunOut() async {
        await #expect(processExitsWith: .success) {
            let group = EventLoops(count: 1)
            let driver = SystemDriver(group)
            let sink = Sink()
            let listener = try await driver.listen(
                .tcp("127.0.0.1", 0), on: driver.nextLoop(), dealingTo: [], options: SocketOptions(), sink: sink)
            let clients = (0..<3).map { _ in socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0) }
            try await openThePoolsDescriptors()
            var limit = rlimit()
            getrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit)
            let usual = limit
            limit.rlim_cur = rlim_t(try #require(clients.max()) + 1)
            setrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit)
            var address = Raw.loopback(try #require(listener.endpoint.port))
            for client in clients { #expect(lls_connect(client, &address) == 0) }
            #expect(try await sink.failures.next().code == .resourcesExhausted)
            let loop = try #require(group.loops.first)
            let turns = loop.turnCount
            let start = referee.now
            for _ in 0..<3 { #expect(try await sink.failures.next().errno == EMFILE) }
            #expect(loop.turnCount - turns < 20)
            #expect(start.duration(to: referee.now) > .milliseconds(250))
            limit = usual
            setrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit)
            for _ in clients { try await sink.transports.next().close() }
            await listener.close()
        }
    }

    @Test func C127_aBrokenPipeDoesNotEndTheProcess() async {
        await #expect(processExitsWith: .success) {
            signal(SIGPIPE, SIG_DFL)
            let folder = Folder()
            for endpoint in [Endpoint.tcp("127.0.0.1", 0), .unix(folder.path + "/s")] {
                for side in 0..<2 {
                    for isReset in [false, true] {
                        let pair = try await Pair(endpoint)
                        let (ours, theirs) = side == 0 ? (pair.client, pair.server) : (pair.server, pair.client)
                        try await theirs.loop.perform { theirs.close(reset: isReset) }
                        var failures = 0
                        while failures < 3 {
                            let one = (try? await ours.loop.perform { try ours.write([Bytes("x")]) }) == nil
                            // Several regions take another call.
                            let two = (try? await ours.loop.perform { try ours.write([Bytes("x"), Bytes("y")]) }) == nil
                            if one && two { failures += 1 }
                        }
                        await pair.close()
                    }
                }
            }
            let (mine, peer) = Raw.pair()
            let adopted = try await SystemNetwork().adopt(mine)
            close(peer)
            for _ in 0..<3 {
                await #expect(throws: SocketError.self) { try await adopted.loop.perform { try adopted.write([Bytes("x")]) } }
            }
            try await adopted.close()
            // Words on a standard error that nobody reads.
            var ends: [Int32] = [0, 0]
            pipe(&ends)
            close(ends[0])
            let usual = dup(2)
            dup2(ends[1], 2)
            lls_complain("x", 1)
            lls_complain("x", 1)
            dup2(usual, 2)
            // The signal's action is as it was.
            var action = sigaction()
            sigaction(SIGPIPE, nil, &action)
            #expect(action.__sigaction_handler.sa_handler == nil)
        }
    }

    @Test func descriptorsAboveAThousandWork() async {
        await #expect(processExitsWith: .success) {
            var limit = rlimit()
            getrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit)
            limit.rlim_cur = min(4096, limit.rlim_max)
            setrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit)
            for _ in 0..<1100 { _ = dup(0) }
            let pair = try await Pair()
            #expect(try #require(pair.client as? SocketTransport).descriptor > 1024)
            let server = try await Stream(pair.server, echo: true)
            let client = try await Stream(pair.client)
            client.send("far up")
            #expect(try await client.read(6) == Array("far up".utf8))
            try await server.closeNow()
            try await client.closeNow()
        }
    }
}
