import Testing

@testable import HeaderGeneration

struct EmitterTests {
    @Test func aWholeHeader() throws {
        let swift = try generate(
            """
            // what a packet begins with
            // lifeline: big-endian; length counts rest; kind in 1..<5
            struct chat_header {
                uint8_t kind; // what it is
                char name[3];
                uint16_t length;
            };
            """)
        #expect(
            swift == """
                // Made of chat.h by the plugin GenerateHeaders: change that file, not this one.

                import Lifeline

                /// What a packet begins with.
                ///
                /// 6 bytes, as C lays out `struct chat_header` in `chat.h`.
                ///
                /// | offset | bytes | field | in C | on the wire |
                /// |---|---|---|---|---|
                /// | 0 | 1 | `kind` | `uint8_t kind` | plausible: 1...4 |
                /// | 1 | 3 | `name` | `char name[3]` |  |
                /// | 4 | 2 | the length | `uint16_t length` | big-endian, counts what stands behind it |
                struct ChatHeader: FixedHeader, Hashable {
                    /// What it is.
                    var kind: UInt8
                    /// `char name[3]`. Always 3 bytes; a header that was read shares them with the read, and `compacted()` copies them out.
                    private(set) var name: Bytes
                    /// `uint16_t length`, the length.
                    private var length: UInt16 = 0

                    /// The header's bytes on the wire: 6.
                    static var byteCount: Int { 6 }

                    /// A header with these fields. It announces an empty body until ``setBodyCount(_:)`` says otherwise.
                    ///
                    /// - Throws: `SocketError.Code.unencodable` if one has more elements than there is room for.
                    init(kind: UInt8, name: Bytes) throws(SocketError) {
                        self.kind = kind
                        self.name = try Self.filled(name, to: 3)
                    }

                    /// Reads a header. Every value of the bytes is taken.
                    init(from input: ByteInput) {
                        kind = input.load(at: 0, .big)
                        name = input.peek(1..<4) ?? Bytes()
                        length = input.load(at: 4, .big)
                    }

                    /// Appends the header.
                    func write(to output: inout ByteOutput) {
                        output.append(kind, .big)
                        output.append(name)
                        output.append(length, .big)
                    }

                    /// The bytes of body that `length` announces; nil for a number that can't be meant.
                    var bodyCount: Int? { Int(exactly: length) }

                    /// Lets `length` announce `count` bytes of body.
                    ///
                    /// - Throws: `SocketError.Code.unencodable` if it can't.
                    mutating func setBodyCount(_ count: Int) throws(SocketError) {
                        length = try Self.length(count)
                    }

                    /// Whether the fields have values that a header can have.
                    var isPlausible: Bool {
                        guard (1...4).contains(kind) else { return false }
                        return true
                    }

                    /// The bytes of body that a header here announces; nil if it isn't plausible or the number can't be meant.
                    static func bodyCount(in input: ByteInput) -> Int? {
                        guard (1...4).contains(input.load(UInt8.self, at: 0, .big)) else { return nil }
                        return Int(exactly: input.load(UInt16.self, at: 4, .big))
                    }

                    /// The text in `name` up to its first NUL; nil if that isn't UTF-8.
                    var nameText: String? { Self.text(of: name) }

                    /// Sets `name`: at most 3 bytes; what is missing is filled up with zeros.
                    ///
                    /// - Throws: `SocketError.Code.unencodable` if there are more.
                    mutating func setName(_ bytes: Bytes) throws(SocketError) {
                        name = try Self.filled(bytes, to: 3)
                    }

                    /// Whether all fields but the length are equal.
                    static func == (left: ChatHeader, right: ChatHeader) -> Bool {
                        guard left.kind == right.kind else { return false }
                        guard left.name == right.name else { return false }
                        return true
                    }

                    /// Feeds all fields but the length.
                    func hash(into hasher: inout Hasher) {
                        hasher.combine(kind)
                        hasher.combine(name)
                    }
                }

                """)
    }

    @Test func garbageIsToldWithoutReadingArraysAndTexts() throws {
        let swift = try generate(
            """
            // lifeline: big-endian; n counts packet; magic == "CHAT|v1"; flags little-endian; flags < 8
            struct s { int16_t levels[9]; char magic[9]; uint8_t kind[4]; uint32_t flags; int n; };
            """)
        let lines = """
                static func bodyCount(in input: ByteInput) -> Int? {
                    guard input.load(UInt64.self, at: 18, .big) == 0x434841547C763100 else { return nil }
                    guard input.load(UInt8.self, at: 26, .big) == 0x0 else { return nil }
                    guard input.load(UInt32.self, at: 32, .little) <= 7 else { return nil }
                    guard let count = Int(exactly: input.load(Int32.self, at: 36, .big)), count >= 40 else { return nil }
                    return count - 40
                }
            """
        #expect(swift.contains(lines), "\(swift)")
        let integers = try generate("// lifeline: big-endian; n counts body\nstruct s { int n; };")
        #expect(!integers.contains("bodyCount(in"), "the default does it")
    }

    @Test func paddingStandsInTheTable() throws {
        let swift = try generate("// lifeline: public; big-endian; n counts body\nstruct s { char c; int n; char d; };")
        #expect(swift.contains("/// | 1 | 3 | | padding | zeros |\n") && swift.contains("/// | 9 | 3 | | padding | zeros |\n"))
        #expect(swift.contains("\npublic import Lifeline\n") && swift.contains("\npublic struct S: FixedHeader, Hashable {\n"))
    }

    @Test func commentsStayComments() throws {
        let swift = try generate("// lifeline: big-endian; n counts body\nstruct s { int n; int a; // one\rvar x = 1\n};")
        #expect(swift.contains("    /// One var x = 1.\n"))
        #expect(!swift.contains("\r"))
    }
}
