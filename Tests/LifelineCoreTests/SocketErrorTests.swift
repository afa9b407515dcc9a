import LifelineCore
import Testing

@Suite("Errors and ends")
struct SocketErrorTests {
    private struct Own: Error {}

    @Test("what an error says")
    func texts() {
        #expect(SocketError(.refused, "nobody listens").description == "refused: nobody listens")
        #expect(SocketError(.refused, "x", errno: 111, cause: Own()).description == "refused: x (errno 111) <- Own()")
        struct Chatty: Error, CustomStringConvertible { let description = String(repeating: "x\u{301}", count: 50_000) }
        let chatty = SocketError(.invalidBody, "x", cause: Chatty()).description
        #expect(chatty.unicodeScalars.count == "invalid body: x <- …".unicodeScalars.count + 1000)
        #expect(SocketError(frameOf: 11, exceeds: 10).description == "frame too large: a frame of 11 bytes exceeds the limit of 10")
        #expect(
            SocketError(truncated: PendingFrame(received: 6, expected: 10)).description
                == "truncated frame: the peer's stream ended inside a frame: 6 of 10 bytes")
        let limit = SocketError(timedOut: .connect, after: .seconds(3), detail: "no answer")
        #expect(limit.message == "timed out after 3.0 seconds connecting: no answer")
        #expect(limit.code == .timedOut && limit.phase == .connect)
        #expect(Set(SocketError.Phase.allCases.map(\.words)).count == SocketError.Phase.allCases.count)
    }

    @Test("equal kind, phase and error number are equal, whatever the words")
    func equality() {
        #expect(SocketError(.reset, "a", cause: Own()) == SocketError(.reset, "b"))
        #expect(SocketError(.reset, "a", errno: 104) != SocketError(.reset, "a"))
        #expect(SocketError(.reset, "a") != SocketError(.closed, "a"))
        #expect(SocketError(timedOut: .read, after: .seconds(1)) != SocketError(timedOut: .write, after: .seconds(1)))
    }

    @Test("a codec's own errors become the cause of one of ours, which stay as they are")
    func wrapping() {
        #expect(SocketError(decoding: Own()).code == .protocolViolation)
        #expect(SocketError(decoding: Own()).cause is Own)
        #expect(SocketError(encoding: Own()).code == .unencodable)
        #expect(SocketError(decoding: SocketError(.truncated, "x")).code == .truncated)
        #expect(SocketError(encoding: SocketError(.frameTooLarge, "x")).code == .frameTooLarge)
    }

    @Test("what is pending, in words")
    func pending() {
        #expect(PendingFrame(received: 42, note: "without a terminator").description == "42 bytes without a terminator")
        #expect(PendingFrame(received: 1).description == "1 byte")
        #expect(PendingFrame(received: 0, expected: 1).description == "0 of 1 byte")
        #expect(PendingFrame(received: 1, expected: 4).description == "1 of 4 bytes")
    }

    @Test(
        "whether connecting again may help",
        arguments: [
            (CloseReason.closedHere, false), (.shuttingDown, false), (.closedByPeer, true),
            (.failed(SocketError(.reset, "")), true), (.failed(SocketError(.timedOut, "")), true),
            (.failed(SocketError(.refused, "")), true),
            (.failed(SocketError(.truncated, "")), true), (.failed(SocketError(.protocolViolation, "")), false),
            (.failed(SocketError(.frameTooLarge, "")), false), (.failed(SocketError(.invalidEncoding, "")), false),
            (.failed(SocketError(.invalidEndpoint, "")), false), (.failed(SocketError(.unsupportedEndpoint, "")), false),
            (.failed(SocketError(.misuse, "")), false), (.failed(SocketError(.notPermitted, "")), false),
        ])
    func mayRetry(reason: CloseReason, expected: Bool) {
        #expect(reason.mayRetry == expected)
    }

    @Test("only failures are not clean, and they carry their error")
    func cleanEnds() {
        #expect(CloseReason.closedHere.isClean && CloseReason.closedByPeer.isClean && CloseReason.shuttingDown.isClean)
        let failed = CloseReason.failed(SocketError(.reset, "gone"))
        #expect(!failed.isClean)
        #expect(failed.error?.code == .reset)
        #expect(CloseReason.closedByPeer.error == nil)
        #expect(failed.description == "reset: gone")
        #expect(CloseReason.closedByPeer.description == "closed by peer")
    }
}
