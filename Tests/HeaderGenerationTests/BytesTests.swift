import Foundation
import HeaderExample
import Lifeline
import Testing

/// The generated headers write the bytes that a C compiler lays out of the very same files.
@Suite(.timeLimit(.minutes(5)), .enabled(if: CCompiler.path != nil, "there is no C compiler here"))
struct BytesTests {
    private static let root = URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
        .deletingLastPathComponent()

    /// The bytes of a struct after `statements` have filled it, whose padding is zero.
    private func cBytes(of type: String, in header: String, _ statements: String) throws -> [UInt8] {
        let program = """
            #include <stdio.h>
            #include <string.h>
            #include <stdint.h>
            #include "\(header)"
            #if __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__
            #define BE(bits, value) __builtin_bswap##bits(value)
            #define LE(bits, value) (value)
            #else
            #define BE(bits, value) (value)
            #define LE(bits, value) __builtin_bswap##bits(value)
            #endif
            int main(void) {
                \(type) h;
                memset(&h, 0, sizeof h);
                \(statements)
                for (size_t i = 0; i < sizeof h; i++) printf("%d\\n", ((unsigned char *)&h)[i]);
                return 0;
            }
            """
        let folders = ["Sources/HeaderExample", "Tests/HeaderGenerationTests/Samples"].map { Self.root.appendingPathComponent($0).path }
        return try CCompiler.output(of: program, including: folders).compactMap { UInt8($0) }
    }

    @Test func chatHeader() throws {
        var header = ChatHeader(mainType: 0x0102_0304, subType: -1)
        try header.setBodyCount(0x8000_0001)
        let expected = try cBytes(
            of: "struct chat_header", in: "chat_header.h",
            """
            h.version = LE(32, CHAT_VERSION); h.main_type = LE(32, 0x01020304); h.sub_type = LE(32, -1);
            h.body_length = LE(32, 0x80000001u);
            """)
        #expect(bytes(header) == expected)
        #expect(expected == [1, 0, 0, 0, 4, 3, 2, 1, 255, 255, 255, 255, 1, 0, 0, 128])
    }

    @Test func callHeader() throws {
        var header = CallHeader(serial: 0x0102_0304, command: -2, code: 404)
        try header.setBodyCount(5)
        let expected = try cBytes(
            of: "call_header_t", in: "call_header.h",
            "h.length = BE(32, 16 + 5); h.serial = BE(32, 0x01020304); h.command = BE(32, -2); h.code = BE(32, 404);")
        #expect(bytes(header) == expected)
        #expect(expected == [0, 0, 0, 21, 1, 2, 3, 4, 255, 255, 255, 254, 0, 0, 1, 148])
    }

    @Test func paddedHeader() throws {
        var header = try PaddedHeader(
            kind: 7, token: 0x0102_0304_0506_0708, sender: Bytes("anna"), levels: [-2, 0x1234], tail: 0x5678, sign: -3)
        try header.setBodyCount(300)
        let expected = try cBytes(
            of: "struct padded_header", in: "samples.h",
            """
            h.kind = 7; h.token = BE(64, 0x0102030405060708u); strcpy(h.name, "anna"); h.levels[0] = LE(16, -2);
            h.levels[1] = LE(16, 0x1234); h.tail = LE(16, 0x5678); h.length = BE(16, 304); h.sign = -3;
            """)
        #expect(bytes(header) == expected)
    }

    @Test func packedHeader() throws {
        var header = try PackedHeader(digest: [1, 2, 250], deltas: [-1, 5], flags: 9, initial: 0xFF)
        try header.setBodyCount(1 << 40)
        let expected = try cBytes(
            of: "struct packed_header", in: "samples.h",
            """
            memcpy(h.magic, "LF|1", 4); h.digest[0] = 1; h.digest[1] = 2; h.digest[2] = 250; h.deltas[0] = -1; h.deltas[1] = 5;
            h.flags = LE(32, 9); h.total = LE(64, (1ll << 40) + 24); h.initial = 0xFF;
            """)
        #expect(bytes(header) == expected)
    }

    @Test func wordsHeader() throws {
        var header = try WordsHeader(default: 1, input: 0x0102_0304_0506_0708, output: 7, length: 199, hasher: -5, element: [1, 0x0203])
        try header.setBodyCount(255)
        let expected = try cBytes(
            of: "words_header", in: "samples.h",
            """
            h.type = 1; h.input = BE(64, 0x0102030405060708u); h.output = LE(32, 7); h.count = 255; h.length = 199; h.hasher = LE(32, -5);
            h.element[0] = LE(16, 1); h.element[1] = LE(16, 0x0203); h.lowest = LE(64, 1ull << 63); h.highest = LE(64, ~0ull);
            """)
        #expect(bytes(header) == expected)
    }
}
