import Foundation
import Lifeline
import LifelineTLS
import Testing

/// The manual's table of limits says what the code does.
struct DefaultsTable {
    @Test func defaultsAreThoseOfTheCode() throws {
        let readme = URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent()
            .appendingPathComponent("README.md")
        let lines = try String(contentsOf: readme, encoding: .utf8).components(separatedBy: "\n")
        let start = try #require(lines.firstIndex(of: "| where | setting | default |"))
        let rows = lines[(start + 2)...].prefix { $0.hasPrefix("|") }
        #expect(try Array(rows) == Self.rows())
    }

    private static func rows() throws -> [String] {
        let client = TLSClient.Settings()
        let protection = TLSServer.Settings(identity: try TLSTests.identity("server"))
        let connection = ConnectionOptions()
        let server = ServerOptions()
        let supervisor = SupervisorOptions()
        let beats = HeartbeatSchedule(.pingPong)
        let length = LengthPrefixCodec()
        let header = JSONHeaderCodec()
        let lines = LineCodec()
        return [
            row("`connect`", "`within:`, the time for everything, name look-up included; nil for none", "10 s"),
            row("`close`", "`within:`, the wait for the peer's end", "5 s"),
            row("`Server.shutdown`", "`within:`, the wait for handlers and connections", "10 s"),
            row("`ConnectionOptions`", "`inbox`, bytes read and not taken, high / low", marks(connection.inbox)),
            row("", "`inboxFrames`, frames decoded and not taken", "\(connection.inboxFrames)"),
            row("", "`outbox`, bytes sent and not in the kernel, high / low", marks(connection.outbox)),
            row("", "`idleLimit`, silence of the peer", time(connection.idleLimit)),
            row("", "`firstFrameLimit`, the wait for the first frame", time(connection.firstFrameLimit)),
            row(
                "", "`unfinishedFrameLimit`, the wait for the rest of a frame; the error says how much of it is there",
                time(connection.unfinishedFrameLimit)),
            row("", "`writeLimit`, the kernel takes nothing of what waits", time(connection.writeLimit)),
            row("", "`halfOpenLimit`, this side goes on after the peer's end", time(connection.halfOpenLimit)),
            row("", "`lingerLimit`, the wait for the peer's end where no other is given", time(connection.lingerLimit)),
            row("", "`socket.noDelay`", "\(connection.socket.noDelay ? "on" : "off")"),
            row("", "`socket.keepAlive`", connection.socket.keepAlive == nil ? "none" : "on"),
            row("", "`socket.backlog`, connections that wait for `accept`", "\(connection.socket.backlog)"),
            row("`ServerOptions`", "`maximumConnections`", "\(server.maximumConnections)"),
            row("", "`acceptQueue`, accepted connections that wait for `run`", "\(server.acceptQueue)"),
            row("", "`handlers`, where they run", "\(server.handlers)"),
            row("`TLSClient`, `TLSServer`", "`minimumVersion`", "\(min(client.minimumVersion, protection.minimumVersion))"),
            row("", "`resumesSessions`", client.resumesSessions && protection.resumesSessions ? "on" : "off"),
            row("`TLSClient`", "`trust`", "system"),
            row("`TLSServer`", "`clientCertificates`", "\(protection.clientCertificates)"),
            row(
                "", "`handshakeLimit`, the handshake, `verify` included; for a client it is part of `connect`",
                time(protection.handshakeLimit)),
            row("`startTLS`", "`within:`, the same for a client", "10 s"),
            row("`SupervisorOptions`", "`connectLimit`, one attempt, name look-up included; nil for none", time(supervisor.connectLimit)),
            row("", "`registrationLimit`, one registration", time(supervisor.registrationLimit)),
            row("", "`goAwayLimit`, the connection lives on after the server has let the client go", time(supervisor.goAwayLimit)),
            row("", "`retryBudget`, attempts shared with other links", supervisor.retryBudget == nil ? "none" : "some"),
            row("`Supervisor`", "`stop(within:)`, the wait for the peer's end", "2 s"),
            row("", "`statusUpdates`, changes that a reader may leave unread; older ones merge", "\(StatusQueue.limit)"),
            row(
                "", "`subscribe(upTo:)`, messages that a subscription may leave unread; then it ends",
                "\(Subscription<LineCodec>.defaultLimit)"),
            row("`Heartbeat`", "`every:`, `answerWithin:`", "to be given"),
            row("", "`misses`, unanswered pings in a row that end the connection", "\(beats.misses)"),
            row("", "`jitter`, the part of a period by which a beat may be early", "\(beats.jitter == 0 ? "0" : "some")"),
            row("", "`anyByteCounts`, any byte that is heard is an answer", beats.anyByteCounts ? "on" : "off"),
            row("`ReconnectPolicy`", "`.exponential`, first delay, factor, longest delay", exponential),
            row(
                "", "`jitter` of `.exponential`, of the others",
                "\(ReconnectPolicy.exponential().jitter), \(ReconnectPolicy.every(.zero).jitter)"),
            row("", "`attempts`, `within`", time(ReconnectPolicy.exponential().within)),
            row("", "`stableAfter`, a connection that counts as a success", time(ReconnectPolicy.exponential().stableAfter)),
            row("", "`spacing` of `.atOnce`, from attempt to attempt", "\(Int(ReconnectPolicy.atOnce().spacing / .milliseconds(1))) ms"),
            row("`OfflineRule`", "what becomes of messages without a connection", "wait"),
            row("", "messages that `.wait` keeps of those that are posted", "\(OfflineRule<String>.wait.limit)"),
            row("", "`.latest(by:)`, keys", "\(OfflineRule<String>.latest(by: \.count).limit)"),
            row("`Pairing`", "`atMost`, requests that wait for their answers", "\(Pairing<RequestHeaderCodec>.defaultMaximum)"),
            row("", "`request(within:)`, the time for everything; nil for none", "to be given"),
            row("`.lines`, `DelimiterCodec`", "`max` and `maxOutgoing`, without the terminator", size(lines.lines.max)),
            row("", "`overlong`, `unterminated`, `invalidText`", "\(lines.lines.overlong)"),
            row(
                "`LengthPrefixCodec`, `HeaderCodec` and the other headers, `NetstringCodec`", "`max` and `maxOutgoing`, without the header",
                size(length.max)),
            row("`JSONHeaderCodec`", "`max` and `maxOutgoing`, without the header", size(header.max)),
            row("", "`maxHeader`, without the CR LF", size(header.maxHeader)),
            row("`PrefixedStringCodec`", "`max` and `maxOutgoing`, without the length", size(PrefixedStringCodec().max)),
            row(
                "`Resynchronizing`", "`budget`, bytes skipped between two frames; frames whose check fails may come to 16 times that",
                size(length.resynchronizing().budget)),
            row("`JSONCoding`", "`maxDepth`, received values in each other", "\(JSONCoding.standard.maxDepth)"),
        ]
    }

    private static var exponential: String {
        guard case .exponential(let first, let multiplier, let cap) = ReconnectPolicy.exponential().schedule else { return "" }
        return "\(time(first)), \(Int(multiplier)), \(time(cap))"
    }

    private static func row(_ place: String, _ setting: String, _ value: String) -> String { "| \(place) | \(setting) | \(value) |" }

    private static func marks(_ marks: Marks) -> String { "\(size(marks.high)) / \(size(marks.low))" }

    private static func size(_ count: Int) -> String {
        count % (1 << 20) == 0 ? "\(count >> 20) MiB" : "\(count >> 10) KiB"
    }

    private static func time(_ limit: Duration?) -> String { limit.map { "\($0.components.seconds) s" } ?? "none" }
}
