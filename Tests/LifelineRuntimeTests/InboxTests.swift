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
}
