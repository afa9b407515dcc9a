import LifelineCore
import Testing

@testable import LifelineRuntime
@testable import LifelineTesting

@Suite("Lifetimes")
struct LifetimeTests {
    /// What must not outlive a connection.
    private struct Traces {
        weak var connection: Connection<LengthPrefixCodec>?
        weak var core: StreamCore?
        weak var outbox: Outbox?
        weak var transport: (any Transport)?
        weak var peer: ByteStream?
        weak var peerCore: StreamCore?

        init(_ pair: Pair<LengthPrefixCodec>) {
            connection = pair.connection
            core = pair.connection.core
            outbox = pair.connection.core.outbox
            transport = pair.connection.core.transport
            peer = pair.peer
            peerCore = pair.peer.core
        }

        var isGone: Bool {
            connection == nil && core == nil && outbox == nil && transport == nil && peer == nil && peerCore == nil
        }
    }

    @Test("C131: nothing is left of a connection that has gone, in whatever way it ended, a thousand times", arguments: Ending.allCases)
    func nothingIsLeft(ending: Ending) async throws {
        try await simulate(limit: .seconds(10_000_000)) { world in
            for round in 0..<1000 {
                let traces = try await oneLife(ending, in: world)
                await world.settle()
                if round % 100 == 0 || !traces.isGone { #expect(traces.isGone, "\(traces)") }
                #expect(world.loops.allSatisfy { $0.timerCount == 0 })
                if !traces.isGone { return }
            }
        }
    }

    private func oneLife(_ ending: Ending, in world: World) async throws -> Traces {
        let pair = try await world.pair(lengthPrefixed, options: ending.options)
        try await pair.connection.send(Bytes("hello"))
        try await pair.peer.write(frame("hello"))
        #expect(try await pair.connection.next() != nil)
        try await ending.happen(to: pair, in: world)
        await pair.connection.close()
        await pair.peer.close()
        return Traces(pair)
    }

    @Test("C42: a connection lives on in its messages alone, and ends with them")
    func onlyMessages() async throws {
        try await simulate { world in
            let (messages, peer) = try await {
                let pair = try await world.pair(.lines)
                return (pair.connection.messages, pair.peer)
            }()
            await world.settle()
            try await peer.write(Bytes("a\nb\n"))
            try await world.clock.sleep(for: .seconds(1))
            var lines: [String] = []
            for try await line in messages {
                lines.append(line)
                if lines.count == 2 { try await peer.finishSending() }
            }
            #expect(lines == ["a", "b"])
        }
    }

    @Test("C42: when everything is dropped, what was sent arrives and the peer sees the end", arguments: 1...20)
    func dropped(seed: UInt64) async throws {
        try await simulate(seed: seed, loops: 3) { world in
            let options = ConnectionOptions.small(1_000_000) { $0.outbox = Marks(high: 2_000_000) }
            let peer = try await {
                let pair = try await world.pair(.raw, options: options)
                try await pair.connection.send(pattern(900_000))
                return pair.peer
            }()
            #expect(try await peer.readAll().count == 900_000)
            #expect(peer.closeReason == .closedByPeer)
            #expect(world.now == .zero)
        }
    }

    @Test("C42: what the kernel doesn't take at once is lost, and the peer is told so")
    func droppedWithLoss() async throws {
        try await simulate { world in
            let peer = try await {
                let pair = try await world.pair(.raw, options: .small(1000), peer: .slow)
                try await pair.connection.send(pattern(50_000))
                return pair.peer
            }()
            await expectError(.reset) { try await peer.readAll() }
            #expect(world.now == .zero)
        }
    }

    @Test("the last reference may go on any loop while events arrive")
    func droppedElsewhere() async throws {
        for seed in 0..<200 as Range<UInt64> {
            try await simulate(seed: seed, loops: 3) { world in
                let (box, peer) = try await {
                    let pair = try await world.pair(.lines)
                    return (Box(pair.connection), pair.peer)
                }()
                async let writing: Void = {
                    do {
                        for number in 0..<100 {
                            try await peer.write(Bytes("\(number)\n"))
                            if number % 5 == 0 { try await peer.flush() }
                        }
                    } catch let error as SocketError {
                        #expect(error.code == .closed || error.code == .reset)
                    }
                }()
                await withTaskGroup { group in
                    group.addTask(executorPreference: world.loops[Int(seed % 3)].tasks) {
                        for _ in 0..<(seed % 11) { await Task.yield() }
                        box.drop()
                    }
                }
                try await writing
                _ = try? await peer.readAll()
                #expect(peer.closeReason != nil)
            }
        }
    }

    @Test("a close under way goes on when its connection is dropped")
    func droppedWhileClosing() async throws {
        try await simulate { world in
            let peer = try await {
                let pair = try await world.pair(.raw, options: .small(1000), peer: .slow)
                try await pair.connection.send(pattern(50_000))
                try await pair.connection.finishSending()
                pair.connection.core.loop.run { [core = pair.connection.core] in core.close(within: .seconds(5), done: nil) }
                return pair.peer
            }()
            try await world.clock.sleep(for: .seconds(1))
            #expect(try await peer.readAll().count == 50_000)
        }
    }

    @Test("a connection that was handed over leaves its stream alone")
    func handedOverStreamIsDropped() async throws {
        try await simulate { world in
            let pair = try await world.pair(.lines)  // The stream that it came from has gone by now.
            await world.settle()
            try await pair.peer.write(Bytes("a\n"))
            #expect(try await pair.connection.next() == "a")
            #expect(pair.connection.closeReason == nil)
        }
    }
}

/// The last reference to something.
final class Box<Value: Sendable>: @unchecked Sendable {  // `value` is guarded by `lock`.
    private let lock = Lock()
    private var value: Value?

    init(_ value: consuming Value) { self.value = value }

    func drop() {
        let last = lock.withLock {
            defer { value = nil }
            return value
        }
        withExtendedLifetime(last) {}
    }
}
