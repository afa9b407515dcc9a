/// What happens with a frame of text that isn't valid UTF-8.
public enum InvalidTextRule: Sendable, Hashable {
    /// Decoding throws ``SocketError/Code/invalidEncoding`` and the connection ends; the frames before are delivered.
    case fail
    /// What isn't valid becomes U+FFFD; the frame is delivered and decoding goes on.
    case replace
}
