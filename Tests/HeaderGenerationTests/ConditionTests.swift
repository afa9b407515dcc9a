import Testing

@testable import HeaderGeneration

/// Conditions: what they leave out is left out as C does, and a header that depends on what can't be seen is an error.
@Suite(.timeLimit(.minutes(5)))
struct ConditionTests {
    private static let annotation = "// lifeline: little-endian; len counts body\n"

    /// A struct whose size tells which branches were taken.
    private static func probe(_ field: String) -> String {
        "\(annotation)struct s {\n\(field)\nuint32_t len; };\n"
    }

    /// Texts whose conditions can be decided, with a struct `s`.
    static let decided = [
        probe("#if 0\nint64_t a;\n#elif 1\nint32_t b;\n#endif"),
        probe("#if 0\nint64_t a;\n#elif 0\nint64_t b;\n#elif 1\nchar c[3];\n#elif 1\nint64_t d;\n#else\nint64_t e;\n#endif"),
        probe("#if 1\nchar a[5];\n#elif 1\nint64_t b;\n#else\nint64_t c;\n#endif"),
        probe("#if 0\n#elif 0\nint64_t b;\n#else\nint16_t c;\n#endif"),
        probe("#if 0\n#if 1\nint64_t a;\n#elif 1\nint64_t b;\n#endif\n#elif X\n#endif\n#define X 1") + "#if X\n#endif",
        "#define V 3\n" + probe("#if V < 3\nint64_t a;\n#elif V >= 3 && defined(V)\nint32_t b;\n#endif"),
        "#define V (2)\n" + probe("#if !(V == 2) || V != 2\nint64_t a;\n#elif defined V && !defined __cplusplus\nchar b;\n#endif"),
        "#define V\n#undef V\n" + probe("#ifdef V\nint64_t a;\n#endif\n#ifndef V\nint32_t b;\n#endif\n#if V\nint64_t c;\n#endif"),
        "#define F(x) x\n" + probe("#ifdef F\nint32_t a;\n#else\nint64_t b;\n#endif"),
        probe("#if defined(__GNUC__) || defined(NOBODY_KNOWS)\nint32_t a;\n#else\nint64_t b;\n#endif"),
        probe("#if 0 && NOBODY_KNOWS\nint64_t a;\n#else\nint32_t b;\n#endif"),
        "#ifdef _MSC_VER\n#pragma pack(push, 1)\n#endif\n\(probe("char a;"))#ifdef _MSC_VER\n#pragma pack(pop)\n#endif\n",
        """
        #ifdef _MSC_VER
        #define PACKED
        #elif defined(__GNUC__)
        #define PACKED __attribute__((packed))
        #endif
        \(annotation)struct PACKED s { char a; uint32_t len; };
        """,
        "#ifndef N\n/* the default */\n#define N 7\n#endif\n" + probe("char a[N];"),
        "#if !defined(N)\n#define N 7\n#endif\n" + probe("char a[N];"),
        "#ifndef S_H\n#define S_H\n\(probe("char a;"))#endif\n",
        // Nothing of it reaches the header.
        "#ifdef X\n#pragma pack(push, 1)\nstruct t { int n; };\n#pragma pack(pop)\n#define M 3\n#endif\n" + probe("char a;"),
        "#ifdef X\n#pragma pack(1)\n#endif\n#pragma pack()\n" + probe("char a;"),
        "#ifdef X\n#pragma pack(1)\n#endif\n\(annotation)struct __attribute__((packed)) s { char a; uint32_t len; };\n#pragma pack()",
        "#ifdef X\n#pragma pack(push)\n#endif\n#pragma pack(push, 2)\n#pragma pack(push, 1)\n#pragma pack(pop)\n" + probe("char a;"),
        "#ifdef X\n#define N 3\n#endif\n#undef N\n#define N 4\n" + probe("char a[N];"),
        "enum { A,\n#ifdef X\nB,\n#endif\nC = 5, D };\n" + probe("char a[D];"),
    ]

    @Test(.enabled(if: CCompiler.path != nil, "there is no C compiler here"))
    func whatAConditionLeavesOutIsLeftOutAsCDoes() throws {
        // A program for each text, since all of their structs have one name.
        for text in Self.decided {
            let header = try model(text)
            let program = """
                #include <stdio.h>
                #include <stdint.h>
                \(text)
                int main(void) { printf("%zu\\n", sizeof(struct s)); return 0; }
                """
            #expect(try CCompiler.output(of: program) == ["\(header.size)"], "\(text)")
        }
    }

    @Test func aFieldInAnElifIsKept() throws {
        let header = try model(Self.probe("#if 0\nint64_t a;\n#elif 1\nint32_t b;\n#endif"))
        #expect(header.fields.map(\.source.name) == ["b", "len"] && header.size == 8)
    }

    /// Texts with the line of the condition that is to blame, and what depends on it.
    static let undecided: [(String, Int, String)] = [
        ("#ifdef X\n#pragma pack(push, 1)\n#endif\nstruct s { char c; int n; };", 2, "the packing of `struct s` in line 5"),
        ("#pragma pack(1)\n#ifdef X\n#pragma pack()\n#endif\nstruct s { char c; int n; };", 3, "the packing of `struct s` in line 6"),
        ("#if X\n#pragma pack(1)\n#else\n#pragma pack(2)\n#endif\nstruct s { char c; int n; };", 2, "the packing of `struct s`"),
        (
            "#pragma pack(push, 1)\n#ifdef X\n#pragma pack(pop)\n#endif\n#pragma pack()\n#pragma pack(pop)\nstruct s { int n; };", 3,
            "the packing of `struct s` in line 8"
        ),
        (
            "#if __SIZEOF_LONG__ == 8\n#define NAME_LEN 64\n#else\n#define NAME_LEN 32\n#endif\nstruct s { char a[NAME_LEN]; int n; };", 2,
            "`NAME_LEN` in line 7"
        ),
        ("#define N 3\n#ifdef X\n#undef N\n#define N 4\n#endif\nstruct s { char a[N]; int n; };", 3, "`N` in line 7"),
        ("#ifdef X\n#define N 3\n#endif\n#ifndef N\n#define N 4\n#endif\nstruct s { char a[N]; int n; };", 5, "`N` in line 8"),
        ("#ifdef X\n#define N 3\n#endif\n#define M (2 * N)\nstruct s { char a[M]; int n; };", 2, "`N` in line 6"),
        ("#ifdef X\ntypedef short T;\n#else\ntypedef int T;\n#endif\nstruct s { T a; int n; };", 2, "`T` in line 7"),
        ("#ifdef X\ntypedef short T;\n#endif\ntypedef T U;\nstruct s { U a; int n; };", 2, "`U` in line 6"),
        ("enum { A,\n#ifdef X\nB,\n#endif\nC };\nstruct s { char a[C]; int n; };", 3, "`C` in line 7"),
        ("enum { A\n#ifdef X\n= 4\n#endif\n, C };\nstruct s { char a[C]; int n; };", 3, "`C` in line 7"),
        ("#ifdef X\n#define N 3\n#endif\nenum { A = N + 1 };\nstruct s { char a[A]; int n; };", 2, "`A` in line 6"),
        ("#ifdef X\n#define N 3\n#endif\nstruct s { int n; /* lifeline: == N */ };", 2, "`N` in line 5"),
        ("struct s {\n#ifndef COMPACT\nint64_t a;\n#endif\nint n; };", 3, "`int64_t` in line 4"),
        ("struct s {\n#ifdef COMPACT\nint64_t a;\n#endif\nint n; };", 3, "`int64_t` in line 4"),
        ("struct s {\n#if 0\n#elif X\nint64_t a;\n#endif\nint n; };", 4, "`int64_t` in line 5"),
        ("struct s {\n#ifdef X\n#elifdef Y\nint64_t a;\n#endif\nint n; };", 3, "`int64_t` in line 5"),
        ("struct s {\n#if X + 0 || defined(Y)\nint64_t a;\n#endif\nint n; };", 3, "`int64_t` in line 4"),
        ("struct s { int n; }\n#ifdef X\n;\n#else\n__attribute__((packed));\n#endif", 3, "`;` in line 4"),
        ("#ifdef __APPLE__\nstruct s { int n; };\n#endif", 2, "`struct` in line 3"),
        // The first branch defines what the second asks for.
        (
            "#if X\n#define N\n#else\n#ifndef N\n#pragma pack(1)\n#endif\n#endif\nstruct s { char c; int n; };", 2,
            "the packing of `struct s`"
        ),
    ]

    @Test(arguments: undecided)
    func aHeaderThatDependsOnWhatCantBeSeenIsAnError(text: String, line: Int, what: String) throws {
        let error = try #require(refusal("\n" + text.replacing("struct s", with: "/* lifeline: little-endian; n counts body */ struct s")))
        let start = "/team/chat.h:\(line):1: error: the generator can't tell whether this condition holds, and \(what)"
        #expect(error.hasPrefix(start) && error.hasSuffix(" depends on it; take the condition out"), "\(error)")
    }

    @Test func whatNoHeaderNeedsMayDependOnAnything() throws {
        let found = try models(
            """
            #if __SIZEOF_LONG__ == 8
            #define WORD 8
            typedef long long word;
            #pragma pack(push, 4)
            #else
            #define WORD 4
            typedef int word;
            #endif
            enum { SIZE = WORD, TWICE = 2 * WORD };
            struct other { word all[SIZE]; };
            #pragma pack(1)
            // lifeline: little-endian; n counts body
            struct s { char c; int n; };
            """)
        #expect(found.map(\.size) == [5])
    }

    @Test func anIncludeInsideAStructIsAnError() throws {
        let error = try #require(refusal("// lifeline: little-endian; n counts body\nstruct s {\n#include \"fields.h\"\nint n; };"))
        #expect(error == "/team/chat.h:3:1: error: `#include` inside a struct isn't supported; write here what the file holds")
    }

    @Test(arguments: [
        "", "(", ")", "!", "1 &&", "defined", "defined(", "defined(A", "1 +", "A(1)", "==", "1 == ", "1 2", "__has_attribute(packed)",
        "A", "A == 1", "!A", "1 && A", "0 || A", "__GNUC__ >= 4",
        String(repeating: "(", count: 1000), String(repeating: "!", count: 1000) + "1",
    ])
    func conditionsThatArentUnderstoodAreOpen(condition: String) throws {
        let tokens = try Lexer.elements(of: condition, file: "a.h").compactMap { if case .token(let token) = $0 { token } else { nil } }
        #expect(ConditionParser.holds(tokens, Macro.ofCompilers) == nil)
    }
}
