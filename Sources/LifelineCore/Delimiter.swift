/// The bytes that stand behind a frame: one at least, of any value.
///
/// A string literal gives its UTF-8: `"\0"`, `"--end--"`.
public struct Delimiter: Sendable, Hashable, ExpressibleByStringLiteral, CustomStringConvertible {
    /// The bytes.
    public let bytes: Bytes

    /// A delimiter of `bytes`.
    ///
    /// - Throws: ``SocketError/Code/misuse`` if there are none.
    public init(_ bytes: Bytes) throws(SocketError) {
        guard !bytes.isEmpty else { throw SocketError(.misuse, "a delimiter has at least one byte") }
        self.bytes = bytes.compacted()
    }

    /// A delimiter of a literal's UTF-8. An empty literal is a fault of the program.
    public init(stringLiteral text: String) {
        precondition(!text.isEmpty, "a delimiter has at least one byte")
        bytes = Bytes(text)
    }

    /// LF: `0A`.
    public static let lf: Delimiter = "\n"
    /// CR LF: `0D 0A`.
    public static let crlf: Delimiter = "\r\n"
    /// NUL: `00`.
    public static let nul: Delimiter = "\0"

    /// The bytes in hexadecimal.
    public var description: String { bytes.description }
}

/// What ends a line that comes in.
public enum LineTerminator: Sendable, Hashable {
    /// LF (`0A`). A CR before it is data.
    case lf
    /// CR LF (`0D 0A`). A CR or an LF alone is data.
    case crlf
    /// LF with a CR before it or not, decided for each line. A CR anywhere else is data.
    case either
    /// Bytes of your own.
    case delimiter(Delimiter)
}
