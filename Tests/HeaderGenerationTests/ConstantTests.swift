import Testing

@testable import HeaderGeneration

struct ConstantTests {
    private func count(_ size: String, _ before: String = "") throws -> Int? {
        try model("\(before)\n// lifeline: little-endian; n counts body\nstruct s { int n; char a[\(size)]; };").fields[1].source.count
    }

    @Test(arguments: [
        ("16", 16), ("0x10", 16), ("020", 16), ("0b101", 5), ("16UL", 16), ("2 + 3 * 4", 14), ("(2 + 3) * 4", 20), ("1 << 4", 16),
        ("64 / 4 - 1", 15), ("-(-7)", 7), ("2 - -1", 3), ("18446744073709551615 - 18446744073709551614", 1),
    ])
    func sizesAreWorkedOut(text: String, value: Int) throws {
        #expect(try count(text) == value)
    }

    @Test func sizesCanHaveNames() throws {
        #expect(try count("N", "#define N 16 /* bytes */") == 16)
        #expect(try count("N", "#define M 8\n#define N (2 * M)") == 16)
        #expect(try count("N + 1", "enum { M = 7, N, O };") == 9)
        #expect(try count("N", "typedef enum kind { L, M, N = M + 4 } kind_t;") == 5)
        #expect(try count("N", "#ifndef N\n#define N 3\n#endif") == 3)
        #expect(try count("N", "#define N 3\n#undef N\n#define N 4") == 4)
    }

    @Test(arguments: [
        ("N", "`N` isn't a constant"), ("sizeof(int)", "`sizeof` isn't a constant"), ("1.5", "`1.5` isn't a constant"),
        ("-1", "an array of -1"),
        ("1 / 0", "a division by zero"), ("18446744073709551616", "isn't a constant"),
        ("18446744073709551615 * 18446744073709551615", "64 bits"),
        ("1 << 64", "a shift by 64"), ("70000", "at most 65535 bytes"), ("1 +", "a number is missing"),
        (String(repeating: "(", count: 100), "too deeply"),
    ])
    func whatIsNoSizeIsAnError(text: String, message: String) throws {
        let error = try #require(refusal("// lifeline: little-endian; n counts body\nstruct s { int n; char a[\(text)]; };"))
        #expect(error.hasPrefix("/team/chat.h:2:") && error.contains(message), "\(error)")
    }

    @Test func macrosThatGoInCirclesEnd() throws {
        let error = try #require(
            refusal("#define A B\n#define B A\n// lifeline: little-endian; n counts body\nstruct s { int n; char a[A]; };"))
        #expect(error.contains("too many others"), "\(error)")
        let lines = (1...40).map { "#define M\($0) M\($0 - 1) M\($0 - 1)" }.joined(separator: "\n")
        #expect(try #require(refusal("#define M0 int a;\n\(lines)\nstruct s { M40 };")).contains("grow too large"))
    }
}
