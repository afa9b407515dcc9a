import LifelineCore

/// Lines that CR LF ends, with one fault or none.
struct BrokenLineCodec: FrameCodec {
    enum Fault: CaseIterable {
        case none
        /// Goes on behind all that was searched, though a CR may stand there already.
        case findsTerminatorsInOneReadOnly
        /// Searches all that has arrived with each read.
        case searchesAgain
        /// Has no limit for a line without an end.
        case growsWithoutEnd
    }

    var fault: Fault
    var max = 40
    private var searched = 0

    init(_ fault: Fault, max: Int = 40) {
        self.fault = fault
        self.max = max
    }

    mutating func decode(from input: inout ByteInput) throws -> String? {
        let from = fault == .searchesAgain ? 0 : fault == .findsTerminatorsInOneReadOnly ? searched : Swift.max(0, searched - 1)
        guard let end = input.firstIndex(of: Bytes("\r\n"), from: from) else {
            searched = input.count
            if searched > max + 1, fault != .growsWithoutEnd { throw SocketError(frameOf: searched, exceeds: max) }
            return nil
        }
        searched = 0
        if end > max { throw SocketError(frameOf: end, exceeds: max) }
        guard let line = input.peek(0..<end) else { return nil }
        guard let text = String(validating: line) else { throw SocketError(.invalidEncoding, "not UTF-8") }
        input.skip(end + 2)
        return text
    }

    func encode(_ line: String, into output: inout ByteOutput) throws {
        if line.utf8.count > max { throw SocketError(frameOf: line.utf8.count, exceeds: max) }
        if line.utf8.contains(0x0A) { throw SocketError(.unencodable, "a line feed") }
        output.append(utf8: line)
        output.append(utf8: "\r\n")
    }

    static var isStateless: Bool { true }
}

/// A byte that counts the characters of a text instead of its bytes.
struct CharacterCountingCodec: FrameCodec {
    func decode(from input: inout ByteInput) throws -> String? {
        guard let length: UInt8 = input.peek(), let body = input.peek(1..<1 + Int(length)) else { return nil }
        input.skip(1 + body.count)
        return String(body)
    }

    func encode(_ text: String, into output: inout ByteOutput) throws {
        output.append(UInt8(text.count))
        output.append(utf8: text)
    }

    static var isStateless: Bool { true }
}

/// Cuts off what stands behind a comma, in the step between frames and messages.
struct LossyMessages: Codec {
    func makeDecoder() -> LineCodec { .lines }
    func makeEncoder() -> LineCodec { .lines }
    func message(from frame: String) throws -> String { String(frame.prefix { $0 != "," }) }
    func frame(for message: String) throws -> String { message }
}
