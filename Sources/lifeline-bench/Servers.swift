/// The servers that are compared. All echo frames: a 4-byte big-endian length, then the payload.
enum ServerKind: String, CaseIterable, Sendable {
    /// Raw epoll in C, the measure of all others.
    case raw
    /// Reading with `next`.
    case next
    /// Iterating over `messages`.
    case messages
    /// `next`, with the framing that comes with Lifeline.
    case nextBuiltin = "next-builtin"
}

/// Serves on 127.0.0.1 until the process ends, with one event loop thread.
///
/// `report` is called once, with the port, when clients can connect. The process has been pinned to
/// the server's core and may open as many files as the system allows. `raw` does not come here.
func serve(kind: ServerKind, report: (UInt16) -> Void) async throws {
    throw Trouble("the server \(kind.rawValue) is not yet available")
}
