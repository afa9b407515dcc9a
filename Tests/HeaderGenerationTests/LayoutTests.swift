import LifelineTesting
import Testing

@testable import HeaderGeneration

/// The layouts are those of the C compiler.
@Suite(.timeLimit(.minutes(5)))
struct LayoutTests {
    /// Structs of which each has another difficulty.
    static let structs = [
        "struct s0 { uint8_t n; uint16_t a; uint8_t b; uint32_t c; uint8_t d; uint64_t e; uint8_t f; };",
        "struct s1 { int n; char a[3]; short b; char c; };",
        "struct s2 { char n; char a[7]; long long b[2]; char c[1]; };",
        "struct s3 { uint8_t n; };",
        "struct s4 { uint16_t a[3]; uint8_t n; };",
        "struct __attribute__((packed)) s5 { uint8_t n; uint64_t a; uint16_t b[3]; int c; };",
        "struct s6 { uint8_t n; uint64_t a; uint16_t b; } __attribute__((__packed__));",
        "#pragma pack(push, 1)\nstruct s7 { char n; unsigned a; signed char b; uint64_t c; };\n#pragma pack(pop)",
        "#pragma pack(push, 2)\nstruct s8 { char n; unsigned a; char b; uint64_t c; char d; };\n#pragma pack(pop)",
        "#pragma pack(push, 4)\nstruct s9 { char n; uint64_t a; char b; short c; };\n#pragma pack(pop)",
        "#pragma pack(push, 16)\nstruct s10 { char n; uint64_t a; char b; };\n#pragma pack(pop)",
        "#pragma pack(1)\nstruct s11 { char n; int a; };\n#pragma pack()\nstruct s12 { char n; int a; };",
        "#pragma pack(push, 2)\n#pragma pack(push)\n#pragma pack(1)\n#pragma pack(pop)\nstruct s13 { char n; int a; };\n#pragma pack(pop)",
        "#pragma pack(push, 2)\nstruct __attribute__((packed)) s14 { char n; int a; char b; };\n#pragma pack(pop)",
    ]

    @Test(.enabled(if: CCompiler.path != nil, "there is no C compiler here"))
    func chosenStructsAreLaidOutAsCDoes() throws {
        try compare(Self.structs)
    }

    @Test(.enabled(if: CCompiler.path != nil, "there is no C compiler here"))
    func randomStructsAreLaidOutAsCDoes() throws {
        let seed: UInt64 = 1
        var generator = SeededGenerator(seed: seed)
        try compare((0..<300).map { Self.randomStruct($0, using: &generator) }, "seed \(seed)")
    }

    private static func randomStruct(_ number: Int, using generator: inout SeededGenerator) -> String {
        let types = [
            "int8_t", "uint8_t", "int16_t", "uint16_t", "int32_t", "uint32_t", "int64_t", "uint64_t", "char", "short", "int",
            "unsigned long long",
        ]
        var fields = ["uint32_t n;"]
        for field in 0..<Int.random(in: 0...8, using: &generator) {
            let count = Int.random(in: -4...9, using: &generator)
            fields.append("\(types.randomElement(using: &generator) ?? "int") f\(field)\(count > 0 ? "[\(count)]" : "");")
        }
        fields.shuffle(using: &generator)
        let definition = "s\(number) { \(fields.joined(separator: " ")) }"
        switch Int.random(in: 0..<4, using: &generator) {
        case 0: return "struct __attribute__((packed)) \(definition);"
        case 1: return "#pragma pack(push, \(1 << Int.random(in: 0...4, using: &generator)))\nstruct \(definition);\n#pragma pack(pop)"
        default: return "struct \(definition);"
        }
    }

    /// Compares sizes and offsets with those that a compiled program prints.
    private func compare(_ structs: [String], _ comment: Comment? = nil) throws {
        let annotated = structs.map { text in
            // Above each struct, behind its pragmas.
            text.split(separator: "\n").map { $0.hasPrefix("struct") ? "// lifeline: big-endian; n counts body\n\($0)" : String($0) }
                .joined(separator: "\n")
        }
        let text = "#include <stdint.h>\n\(annotated.joined(separator: "\n"))\n"
        var statements: [String] = []
        var expected: [String] = []
        for header in try models(text) {
            let name = header.source.cName
            statements.append("printf(\"\(name) %zu\\n\", sizeof(\(name)));")
            expected.append("\(name) \(header.size)")
            for field in header.fields {
                let place = "\(name).\(field.source.name)"
                statements.append(
                    "printf(\"\(place) %zu %zu\\n\", offsetof(\(name), \(field.source.name)), sizeof(((\(name) *)0)->\(field.source.name)));"
                )
                expected.append("\(place) \(field.offset) \(field.source.size)")
            }
        }
        #expect(expected.count > 2 * structs.count)
        let program = """
            #include <stddef.h>
            #include <stdio.h>
            \(text)
            int main(void) {
            \(statements.joined(separator: "\n"))
            return 0;
            }
            """
        let printed = try CCompiler.output(of: program)
        #expect(printed.count == expected.count)
        for (ours, theirs) in zip(expected, printed) { #expect(ours == theirs, comment) }
    }
}
