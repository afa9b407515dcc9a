import Lifeline

/// The options beside `--codec` that say what frames are like.
struct FramingOptions: Sendable {
    /// `--max`: the most bytes of a frame.
    var maximum: Int?
    /// `--skip`: the most bytes to skip between two frames.
    var budget: Int?
    /// `--header`: the header of lines without one.
    var header: String?
    /// `--drop`: overlong lines are dropped, and the stream goes on.
    var drops = false
    /// `--hex`: bodies are in hexadecimal.
    var isHexadecimal = false
    /// Whether lines that aren't UTF-8 are a fault.
    var checksText = false

    /// The names of those that were given and mean nothing with some codecs.
    private(set) var names: [String] = []

    /// What `decode` starts with: whatever can go on behind a fault does.
    static let forCaptures: FramingOptions = {
        var options = FramingOptions()
        options.drops = true
        options.checksText = true
        return options
    }()

    /// Takes the option called `name` from `arguments`; false if it is none of these.
    mutating func take(_ name: String, from arguments: inout Arguments) throws(UsageError) -> Bool {
        switch name {
        case "--max": maximum = try Self.bytes(name, arguments.value(of: name))
        case "--skip": budget = try Self.bytes(name, arguments.value(of: name))
        case "--header": header = try arguments.value(of: name)
        case "--drop": drops = true
        case "--hex": isHexadecimal = true
        default: return false
        }
        if name != "--hex" { names.append(name) }
        return true
    }

    private static func bytes(_ name: String, _ text: String) throws(UsageError) -> Int {
        guard let count = Int(text), count > 0 else { throw UsageError("\(name) takes a number of bytes, not \(text)") }
        return count
    }

    /// Lines with room for a body of `max` bytes and `more`. The codec knows the limit better.
    func splitter(_ terminator: LineTerminator, max: Int, more: Int = 0) -> DelimiterCodec {
        let size = min(max, 1 << 60)
        return DelimiterCodec(accepting: terminator, max: (isHexadecimal ? 3 * size : size) + more, unterminated: .deliver)
    }
}
