import LifelineCore
import Testing

@testable import LifelineRuntime
@testable import LifelineTesting

@Suite("Subscriptions")
struct SubscriptionTests {
    final class Token: Sendable {}

    @Test("a message that was read, or that made room, isn't kept", arguments: [true, false])
    func keepsNothing(isRead: Bool) async throws {
        let mailbox = Mailbox<Token>(limit: 1, makesRoom: true) { _ in true }
        weak var first: Token?
        do {
            let token = Token()
            first = token
            #expect(mailbox.take(token))
        }
        #expect(first != nil)
        if isRead { _ = try await mailbox.next() } else { _ = mailbox.take(Token()) }
        #expect(first == nil)
    }

    @Test("one that comes while the link ends is ended with it or is there for the next run", .timeLimit(.minutes(2)))
    func endsOrStays() async {
        for _ in 0..<3000 {
            let list = MailboxList<Int>()
            let early = (0..<8).map { _ in Mailbox<Int>(limit: 1, makesRoom: false) { _ in true } }
            for mailbox in early { list.add(mailbox) }
            let late = Mailbox<Int>(limit: 1, makesRoom: false) { _ in true }
            await withTaskGroup { group in
                group.addTask { list.end(.closedHere) }
                group.addTask { list.add(late) }
            }
            for mailbox in early where !mailbox.hasEnded { Issue.record("one goes on") }
            #expect(late.hasEnded != list.take(1))
        }
    }
}
