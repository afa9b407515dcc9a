/// Why the application stopped a link: one of the common causes, or words of your own.
public struct StopReason: Sendable, Hashable, ExpressibleByStringLiteral, CustomStringConvertible {
    /// The reason in words, for logs and for the user.
    public let description: String

    /// A reason of your own.
    public init(_ words: String) { description = words }

    /// A reason of your own, as a literal.
    public init(stringLiteral words: String) { description = words }

    /// The user asked for it, by logging out for instance.
    public static let user = Self("stopped by the user")
    /// The application went to the background.
    public static let background = Self("the application went to the background")
    /// The task that ran the link was cancelled.
    public static let cancelled = Self("the task that ran it was cancelled")
}
