import LifelineCore
import Synchronization
import Testing

@testable import LifelineRuntime

/// On the threads of the default pool, for the thread sanitizer above all.
@Suite("Under real threads", .timeLimit(.minutes(2)))
struct ThreadTests {
    @Test("a one-shot has one winner, and its waiter gets what that one gave")
    func oneShot() async throws {
        for round in 0..<500 {
            let shot = OneShot<Int>(timeOut: SocketError(timedOut: .read, after: .zero))
            let winners = Log<Int>()
            let result = try? await withThrowingTaskGroup(of: Int?.self) { group in
                group.addTask { try await shot.value() }
                for index in 0..<4 {
                    group.addTask {
                        if shot.succeed(index) { winners.add(index) }
                        return nil
                    }
                }
                if round % 3 == 0 { group.cancelAll() }
                var value: Int?
                for try await some in group { value = value ?? some }
                return value
            }
            if let result {
                #expect(winners.entries == [result])
            } else {
                #expect(round % 3 == 0)
                #expect(winners.count == 0)
            }
            #expect(shot.isFinished)
        }
    }

    @Test("an inbox hands every frame to its reader once and in order, whoever cancels", arguments: [3, 64, 5000])
    func inbox(limit: Int) async throws {
        let total = 5000
        let producer = Producer(total)
        let inbox = Inbox<Int>(marks: Marks(high: limit * 10), frames: limit)
        producer.inbox = inbox
        inbox.producer = producer
        try await withThrowingTaskGroup(of: Void.self) { group in
            group.addTask { await producer.run() }
            group.addTask {
                var expected = 0
                while true {
                    // Each reader may be cancelled at any time; the next one goes on.
                    let (isOver, next) = await withTaskGroup(of: (Bool, Int).self) { [expected] readers in
                        readers.addTask {
                            var number = expected
                            while let frame = try? await inbox.next() {
                                if frame != number { Issue.record("\(frame) instead of \(number)") }
                                number += 1
                            }
                            return (inbox.reason != nil && !Task.isCancelled, number)
                        }
                        for _ in 0..<(expected % 50) { await Task.yield() }
                        readers.cancelAll()
                        return await readers.next() ?? (true, expected)
                    }
                    expected = next
                    if isOver || expected == total { break }
                }
                #expect(expected == total)
            }
            try await group.waitForAll()
        }
        #expect(try await inbox.next() == nil)
    }

    @Test("an inbox with two readers gives each frame to one of them, each in rising order")
    func twoReaders() async throws {
        for _ in 0..<20 {
            let total = 500
            let producer = Producer(total)
            let inbox = Inbox<Int>(marks: Marks(high: 1000), frames: 50)
            producer.inbox = inbox
            inbox.producer = producer
            let got = Log<Int>()
            await withTaskGroup(of: Void.self) { group in
                group.addTask { await producer.run() }
                for _ in 0..<2 {
                    group.addTask {
                        var last = -1
                        while true {
                            do {
                                guard let frame = try await inbox.next() else { return }
                                #expect(frame > last)
                                last = frame
                                got.add(frame)
                            } catch {
                                #expect((error as? SocketError)?.code == .misuse)
                                await Task.yield()
                            }
                        }
                    }
                }
            }
            #expect(got.entries.sorted() == Array(0..<total))
        }
    }

    @Test("an outbox keeps each sender's order under contention, its bound, and its tickets", arguments: [64, 1000, 1_000_000])
    func outbox(mark: Int) async throws {
        let outbox = Outbox(marks: Marks(high: mark))
        let outbound = Outbound(outbox: outbox, encoder: Numbered())
        let over = Log<Bool>()
        let written = await withTaskGroup(of: [UInt8].self) { group in
            group.addTask {
                // What the loop does, with a kernel that takes a little at a time.
                var all: [UInt8] = []
                var regions: [Bytes] = []
                var taken = 0
                while true {
                    let wasOver = over.count > 0
                    var more = WriteQueue()
                    if outbox.exchange(written: taken, into: &more) {
                        taken = 0
                        if !more.isEmpty { regions += more.regions }
                        if regions.isEmpty, wasOver { return all }
                        #expect(outbox.waitingBytes <= mark + 8)
                    }
                    if let first = regions.first, taken == 0 {
                        first.withUnsafeBytes { all.append(contentsOf: $0) }
                        taken = first.count
                        regions.removeFirst()
                    }
                    await Task.yield()
                }
            }
            await withTaskGroup(of: Void.self) { senders in
                for sender in 0..<8 {
                    senders.addTask {
                        for number in 0..<250 {
                            do {
                                try await outbound.send(UInt32(sender) << 16 | UInt32(number))
                            } catch {
                                Issue.record("\(error)")
                            }
                        }
                    }
                }
                for _ in 0..<8 {
                    // These give up at some time; what they sent before is their affair.
                    senders.addTask {
                        await withTaskGroup(of: Void.self) { one in
                            one.addTask { try? await outbound.send(0xFFFF_FFFF) }
                            await Task.yield()
                            one.cancelAll()
                        }
                    }
                }
            }
            over.add(true)
            return await group.next() ?? []
        }
        var next = [UInt32](repeating: 0, count: 8)
        var count: UInt32 = 0
        for place in stride(from: 0, to: written.count, by: 8) {
            let words = stride(from: place, to: place + 8, by: 4).map { at in
                written[at..<at + 4].reduce(UInt32(0)) { $0 << 8 | UInt32($1) }
            }
            #expect(words[0] == count)  // The encoder's own count: encoded in the order of the wire.
            count += 1
            if words[1] == 0xFFFF_FFFF { continue }
            #expect(words[1] & 0xFFFF == next[Int(words[1] >> 16)])
            next[Int(words[1] >> 16)] += 1
        }
        #expect(next.allSatisfy { $0 == 250 })
        #expect(outbox.waitingBytes == 0)
        #expect(outbox.waitingSenders == 0)
        #expect(outbox.framesAccepted == Int(count))
    }

    @Test("an outbox that ends under contention fails every send that waits or comes, and hangs none")
    func outboxEnd() async throws {
        for _ in 0..<100 {
            let outbox = Outbox(marks: Marks(high: 64))
            let outbound = Outbound(outbox: outbox, encoder: Numbered())
            await withTaskGroup(of: Void.self) { group in
                for sender in 0..<8 {
                    group.addTask {
                        while (try? await outbound.send(UInt32(sender))) != nil {}
                    }
                }
                group.addTask {
                    for _ in 0..<20 {
                        var queue = WriteQueue()
                        var rest = WriteQueue()
                        if outbox.exchange(written: 0, into: &queue) {
                            _ = outbox.exchange(written: queue.regions.reduce(0) { $0 + $1.count }, into: &rest)
                        }
                        await Task.yield()
                    }
                    outbox.end(SocketError(.closed, "over"), dropping: true)
                }
            }
            #expect(outbox.waitingSenders == 0)
        }
    }
}

/// Writes a number of its own, then the frame.
private struct Numbered: FrameEncoder {
    private var number: UInt32 = 0

    mutating func encode(_ frame: UInt32, into output: inout ByteOutput) {
        output.append(number, .big)
        output.append(frame, .big)
        number += 1
    }
}

/// Fills an inbox as a connection does: until it is told to pause, and on when it is told of room.
private final class Producer: InboxProducer {
    private let total: Int
    private let room = Atomic<Bool>(true)
    nonisolated(unsafe) weak var inbox: Inbox<Int>?  // Set before another thread knows it.

    init(_ total: Int) { self.total = total }

    func inboxHasRoom() { room.store(true, ordering: .releasing) }

    func run() async {
        guard let inbox else { return }
        var number = 0
        var frames = FrameQueue<Int>()
        var places = 1
        while number < total {
            while !room.exchange(false, ordering: .acquiring) { await Task.yield() }
            var isPaused = false
            while !isPaused, number < total {
                let count = min(total - number, max(1, min(places, number % 7 + 1)))
                for _ in 0..<count {
                    frames.append(number)
                    number += 1
                }
                let added = inbox.add(&frames, bytes: count * 10, marked: false)
                isPaused = added.isPaused
                places = added.room
                if number % 3 == 0 { await Task.yield() }
            }
        }
        inbox.end(.closedByPeer)
    }
}
