import Lifeline

/// Standard input as frames: its lines, or whatever comes where the codec has no frames.
struct InputFrames {
    private let reader: DescriptorReader
    private let notation: LineNotation
    private var splitter: DelimiterCodec?
    private var input = ByteInput()
    private var hasEnded = false

    init(_ reader: DescriptorReader, notation: LineNotation) {
        self.reader = reader
        self.notation = notation
        splitter = notation.splitter
    }

    /// The next frame; nil at the end. A last line without a terminator is one, too.
    ///
    /// - Throws: ``SocketError/Code/frameTooLarge`` for a line above the limit, ``SocketError/Code/unencodable`` for one that can't be
    ///   understood; what the reader throws.
    mutating func next() async throws -> ShellFrame? {
        while true {
            if splitter == nil { return try await reader.read().map { ShellFrame(body: $0) } }
            if let line = try splitter?.decode(from: &input) { return try notation.frame(of: line) }
            if hasEnded { return try splitter?.finish(&input).map { line throws(SocketError) in try notation.frame(of: line) } }
            if let chunk = try await reader.read() {
                chunk.withUnsafeBytes { input.append($0) }
            } else {
                hasEnded = true
            }
        }
    }

    /// How many frames were read and not taken, one that is unfinished among them.
    mutating func countRest() -> Int {
        var count = 0
        while input.count > 0 {
            count += 1
            guard (try? splitter?.decode(from: &input)) != nil else { break }
        }
        return count
    }
}
