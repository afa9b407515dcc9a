import LifelineTesting
import Testing

@testable import HeaderGeneration

/// Whatever stands in a file, there is Swift or an error with a place in it.
struct HostileTextTests {
    private static let pieces = [
        "struct", "s", "{", "}", ";", "(", ")", "[", "]", "typedef", "enum", "union", "int", "unsigned", "long", "char", "uint8_t", "n",
        "a",
        "b", "=", ",", "*", ":", "1", "0", "16", "0x", "99999999999999999999", "\n", "\n", "#define N ", "#define a ", "#undef N\n", "N",
        "#if X\n", "#ifdef N\n", "#ifndef N\n", "#else\n", "#elif 1\n", "#endif\n", "#pragma pack(1)\n", "#pragma pack(push, 2)\n",
        "#pragma pack(pop)\n", "#pragma pack(\n", "__attribute__((packed))", "__attribute__((", "// lifeline: ", "/* lifeline: ", "*/",
        "//", "/*",
        "big-endian", "n counts body", "counts packet", "a in 1...5", "== ", "\"x\"", "\"", "'", "\\\n", "as", "public", "é", "\u{0}", "\r",
        "// lifeline: big-endian; n counts body\nstruct s {\n int n;", "int a; // lifeline: > 3\n", "};\n", "extern \"C\" {",
    ]

    @Test(arguments: 0..<20)
    func noTextIsATrap(seed: UInt64) {
        var generator = SeededGenerator(seed: seed)
        var placed = 0
        for _ in 0..<300 {
            let words = (0..<Int.random(in: 1...40, using: &generator)).map { _ in Self.pieces.randomElement(using: &generator) ?? "" }
            let text = words.joined(separator: Bool.random(using: &generator) ? " " : "")
            let lines = text.utf8.count { $0 == UInt8(ascii: "\n") } + 1
            do {
                _ = try Generation.swift(for: .init(path: "a.h", text: text), importing: "Lifeline")
            } catch {
                let isInside = (1...lines).contains(error.position.line) && error.position.column >= 1
                #expect(isInside, "seed \(seed): \(error) in \(text)")
                placed += 1
            }
        }
        #expect(placed > 0)
    }

    @Test(arguments: 0..<20)
    func aHeaderCutAnywhereIsNoTrap(seed: UInt64) {
        let whole = """
            #pragma pack(push, 1)
            // lifeline: big-endian; n counts packet; a in 1...5
            typedef struct __attribute__((packed)) s_tag {
                unsigned int n, a[3]; // lifeline: as count
                char name[(2 + 3) * 4]; /* lifeline: == "x" */
            } s;
            #pragma pack(pop)
            """
        let bytes = Array(whole.utf8)
        for end in bytes.indices where end % 20 == Int(seed) {
            let start = String(decoding: bytes[..<end], as: UTF8.self)
            let rest = String(decoding: bytes[end...], as: UTF8.self)
            for text in [start, rest, start + rest.dropFirst(), start + "}" + rest, start + ";" + rest] {
                _ = try? Generation.swift(for: .init(path: "a.h", text: text), importing: "Lifeline")
            }
        }
    }
}
