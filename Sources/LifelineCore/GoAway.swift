/// What a server means when it lets a client go: why, and whether and when to come back. A link finds it among its frames with the
/// `goAway:` of `Supervisor`, and obeys it when the connection ends.
public struct GoAway: Sendable, Equatable {
    /// Why the link is offline then, whatever has ended the connection.
    package let reason: OfflineReason
    /// Nil for the schedule.
    package let hint: ReconnectHint?

    private init(_ reason: OfflineReason, _ hint: ReconnectHint?) {
        self.reason = reason
        self.hint = hint
    }

    /// The server doesn't want this client any more, as when it has logged in elsewhere: the link stops as ``OfflineReason/kicked(_:)``.
    ///
    /// - Parameter words: the server's, for the error's ``SocketError/message``.
    public static func kicked(_ words: String = "the server told this client to go and not to come back") -> Self {
        Self(.kicked(SocketError(.kicked, words)), .never)
    }

    /// The server has as many clients as it may: the link is offline as ``OfflineReason/refused(_:)``, with ``SocketError/Code/tooBusy``.
    ///
    /// - Parameters:
    ///   - words: the server's, for the error's ``SocketError/message``.
    ///   - delay: when to try again; see ``ReconnectHint/after(_:spread:)``. Default nil: by the schedule.
    ///   - spread: up to so much later, by chance. Default zero.
    public static func tooBusy(
        _ words: String = "the server has as many clients as it may", after delay: Duration? = nil, spread: Duration = .zero
    ) -> Self {
        Self(.refused(SocketError(.tooBusy, words)), delay.map { .after($0, spread: spread) })
    }

    /// The server will be back after this time, as when it restarts: the link is offline as ``OfflineReason/byServer``. See
    /// ``ReconnectHint/after(_:spread:)``.
    public static func comeBack(after delay: Duration, spread: Duration = .zero) -> Self {
        Self(.byServer, .after(delay, spread: spread))
    }

    /// Another server takes this client: the link is offline as ``OfflineReason/byServer``. See ``ReconnectHint/elsewhere(_:after:)``.
    public static func elsewhere(_ endpoint: Endpoint, after delay: Duration? = nil) -> Self {
        Self(.byServer, .elsewhere(endpoint, after: delay))
    }
}
