/// The 16-byte header of a request, of the response to it or of a packet that the server pushes. ``RequestHeaderCodec`` reads and writes
/// it.
public struct RequestHeader: Sendable, Hashable {
    /// What pairs a response with its request; 0 in what the server pushes.
    public var serial: Int32
    /// What is asked for or answered.
    public var command: Int32
    /// The result; 0 for success, and in requests.
    public var code: Int32

    /// A header.
    ///
    /// - Parameters:
    ///   - serial: what pairs a response with its request; 0 by default, which is a push.
    ///   - command: what is asked for or answered.
    ///   - code: the result; 0 by default.
    @inlinable
    public init(serial: Int32 = 0, command: Int32, code: Int32 = 0) {
        self.serial = serial
        self.command = command
        self.code = code
    }

    /// The header of the answer to this request: its serial and command, and the result.
    @inlinable
    public func answer(code: Int32 = 0) -> RequestHeader { RequestHeader(serial: serial, command: command, code: code) }

    /// Whether it answers no request: its serial is 0.
    @inlinable public var isPush: Bool { serial == 0 }
    /// Whether the result is success: 0.
    @inlinable public var isSuccess: Bool { code == 0 }
}
