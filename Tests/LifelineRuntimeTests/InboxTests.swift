import LifelineCore
import LifelineTesting
import Testing

@testable import LifelineRuntime

@Suite("The inbox")
struct InboxTests {
    private struct Unexpected: Error {}

    @Test("a call that found nothing, and meets frames that another call has fetched since, takes the next of them", arguments: 1...3)
    func fetchedByAnother(count: Int) async throws {
        try await simulate { _ in
            let inbox = Inbox<Int>(marks: Marks(high: 1000), frames: 100)
            guard case .nothing = inbox.take() else { throw Unexpected() }
            var frames = FrameQueue<Int>()
            for number in 0..<count { frames.append(number) }
            _ = inbox.add(&frames, bytes: count, marked: false)
            #expect(try await inbox.next() == 0)
            for number in count..<2 * count { frames.append(number) }
            _ = inbox.add(&frames, bytes: count, marked: false)
            for number in 1..<2 * count { #expect(try await inbox.wait(inbox.newWaiterID()) == number) }
        }
    }

    @Test("the first reason holds, and frames before the end come before it")
    func firstReason() async throws {
        let inbox = Inbox<Int>(marks: Marks(high: 1000), frames: 100)
        var frames = FrameQueue<Int>()
        frames.append(1)
        _ = inbox.add(&frames, bytes: 1, marked: false)
        inbox.end(.closedByPeer)
        inbox.end(.failed(SocketError(.reset, "late")))
        #expect(inbox.reason == .closedByPeer)
        #expect(try await inbox.next() == 1)
        #expect(try await inbox.next() == nil)
    }

    @Test("reading pauses by the storage that waiting frames keep alive, not by their bytes", arguments: [false, true])
    func pinnedStorage(isLarge: Bool) async throws {
        try await simulate { world in
            // A read that fills half of a loop's block keeps it.
            let size = world.loops[0].storages.readSize
            let options = ConnectionOptions.small(size) { $0.inbox = Marks(high: size) }
            let pair = try await world.pair(lengthPrefixed, options: options, peer: options)
            try await pair.peer.write(frame(String(repeating: "x", count: isLarge ? size / 2 : size / 2 - 100)))
            while pair.connection.core.counters.framesIn == 0 { await world.settle() }
            #expect(pair.connection.core.isReading == !isLarge)
            #expect(try await pair.connection.next()?.count == (isLarge ? size / 2 : size / 2 - 100))
            try await pair.peer.write(frame("y"))
            #expect(try await pair.connection.next().map(String.init) == "y")
            #expect(pair.connection.core.isReading)
        }
    }

    @Test("marks: full at the high one, by bytes or by frames, and told of room once all that was fetched is taken")
    func marks() async throws {
        let inbox = Inbox<Int>(marks: Marks(high: 100, low: 50), frames: 4)
        let room = Room()
        inbox.producer = room
        var frames = FrameQueue<Int>()
        frames.append(1)
        #expect(inbox.add(&frames, bytes: 99, marked: false).isPaused == false)
        frames.append(2)
        #expect(inbox.add(&frames, bytes: 1, marked: false).isPaused)
        #expect(try await inbox.next() == 1)
        #expect(room.told.count == 0)
        #expect(try await inbox.next() == 2)
        guard case .nothing = inbox.take() else { throw Unexpected() }
        #expect(room.told.count == 1)
        for number in 0..<4 { frames.append(number) }
        #expect(inbox.add(&frames, bytes: 4, marked: false).isPaused)
        for number in 0..<4 { #expect(try await inbox.next() == number) }
        guard case .nothing = inbox.take() else { throw Unexpected() }
        #expect(room.told.count == 2)
    }

    private final class Room: InboxProducer {
        let told = Log<Bool>()
        func inboxHasRoom() { told.add(true) }
    }
}
