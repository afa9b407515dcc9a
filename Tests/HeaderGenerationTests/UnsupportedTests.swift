import Testing

@testable import HeaderGeneration

/// Each kind of C that no header can be made of is an error with its place, which says what to do.
struct UnsupportedTests {
    /// A field's declaration, the column of the fault, and a part of the message.
    static let fields: [(String, Int, String)] = [
        ("long a;", 1, "`long` has 4 bytes on some machines and 8 on others; use `int32_t` or `int64_t`"),
        ("unsigned long a;", 1, "`unsigned long` has 4 bytes"),
        ("long int a;", 1, "`long int` has 4 bytes"),
        ("char *a;", 6, "pointers mean nothing on the wire"),
        ("void *a;", 1, "pointers mean nothing on the wire"),
        ("int (*a)(int);", 5, "functions and pointers to them"),
        ("unsigned a : 3;", 12, "bit-fields aren't supported"),
        ("unsigned : 3;", 10, "bit-fields aren't supported"),
        ("union { int x; } a;", 1, "unions aren't"),
        ("struct { int x; } a;", 1, "structs inside structs aren't"),
        ("struct inner a;", 1, "structs inside structs aren't"),
        ("enum kind a;", 1, "the size of an enum is the compiler's choice"),
        ("float a;", 1, "use `Float(bitPattern:)`"),
        ("double a;", 1, "use `Float(bitPattern:)`"),
        ("_Bool a;", 1, "use `uint8_t`"),
        ("bool a;", 1, "use `uint8_t`"),
        ("size_t a;", 1, "its size differs between machines"),
        ("u_int32 a;", 1, "known are the fixed-width integers"),
        ("_Alignas(8) int a;", 1, "known are the fixed-width integers"),
        ("char a[];", 6, "what follows the header is the body by itself"),
        ("char a[0];", 6, "what follows the header is the body by itself"),
        ("char a[2][3];", 10, "arrays of arrays aren't supported"),
        ("char a[2;", 7, "this `[` isn't closed"),
        ("int a __attribute__((packed));", 7, "pack the struct"),
        ("int a, *b;", 8, "pointers mean nothing on the wire"),
        ("int a = 3;", 7, "a field is written `TYPE NAME;`"),
        ("int;", 4, "a field is written `TYPE NAME;`"),
        ("int a, ;", 8, "a field is written `TYPE NAME;`"),
        ("int n;", 5, "there is a field `n` already"),
        ("short char a;", 1, "`short char` isn't a type of C"),
        ("signed unsigned a;", 1, "`signed unsigned` isn't a type of C"),
        ("char int a;", 1, "`char int` isn't a type of C"),
        ("long long long a;", 1, "`long long long` isn't a type of C"),
        ("uint32_t int a;", 14, "a field is written `TYPE NAME;`"),
        ("int é;", 5, "`é` isn't supported here"),
    ]

    @Test(arguments: fields)
    func fieldsThatCantBe(text: String, column: Int, message: String) throws {
        let error = try #require(refusal("// lifeline: little-endian; n counts body\nstruct s {\n    int n;\n\(text)\n};\n"))
        #expect(error.hasPrefix("/team/chat.h:4:\(column): error: "), "\(error)")
        #expect(error.contains(message), "\(error)")
    }

    @Test func aMissingSemicolonIsSeenAtTheBrace() throws {
        let error = try #require(refusal("// lifeline: little-endian; n counts body\nstruct s {\n    int n\n};\n"))
        #expect(error == "/team/chat.h:4:1: error: `}` isn't supported here: a `;` is missing before it")
    }

    /// Text around a struct, the line of the fault, and a part of the message.
    static let surroundings: [(String, Int, String)] = [
        ("struct { int n; };", 2, "this struct needs a name"),
        ("struct s { int n; } one;", 2, "`one` behind the struct isn't supported"),
        ("typedef struct { int n; } s, *p;", 2, "`,` behind the struct isn't supported"),
        ("typedef struct { int n; } *p;", 2, "`p` behind the struct isn't supported"),
        ("struct __attribute__((aligned(8))) s { int n; };", 2, "`aligned` isn't supported"),
        ("struct s { int n; } __attribute__((ms_struct));", 2, "`ms_struct` isn't supported"),
        ("struct __declspec(x) s { int n; };", 2, "`(` in the struct's name"),
        ("struct s {\n#pragma pack(1)\nint n; };", 4, "`#pragma pack` inside a struct"),
        ("struct s {\n#ifdef WIDE\nlong n;\n#else\nint n;\n#endif\n};", 3, "can't tell whether this condition holds"),
        ("struct s { int n; }", 2, "a `;` is missing"),
        ("struct s { };", 2, "`struct s` has no fields"),
        ("#pragma pack(3)\nstruct s { int n; };", 2, "takes 1, 2, 4, 8 or 16"),
        ("#pragma pack(pop)\nstruct s { int n; };", 2, "without a push"),
        ("#pragma pack(push, name, 1)\nstruct s { int n; };", 2, "takes 1, 2, 4, 8 or 16"),
        ("#pragma pack 1\nstruct s { int n; };", 2, "needs parentheses"),
        ("#pragma scalar_storage_order big-endian\nstruct s { int n; };", 2, "scalar_storage_order"),
        ("#if X\nstruct s { int n; };", 2, "has no `#endif`"),
        ("#endif\nstruct s { int n; };", 2, "without an `#if`"),
        ("#else\nstruct s { int n; };", 2, "without an `#if`"),
    ]

    @Test(arguments: surroundings)
    func structsThatCantBe(text: String, line: Int, message: String) throws {
        let error = try #require(refusal("// lifeline: little-endian; n counts body\n" + text))
        #expect(error.hasPrefix("/team/chat.h:\(line):") && error.contains(message), "\(error)")
    }

    @Test func structsThatNobodyAsksForMayBeAnyC() throws {
        let found = try models(
            """
            #ifdef __cplusplus
            extern "C" {
            #endif
            struct body { long *next; union { float f; } u[]; unsigned bits : 3; };
            static inline int twice(int n) { if (n) { return 2 * n; } return 0; }
            typedef int (*callback)(struct body *, void *);
            int table[] = { 1, 2 };
            // lifeline: little-endian; n counts body
            struct s { int n; };
            struct s *next(struct s *);
            enum { ONE = sizeof(int), TWO };
            #ifdef __cplusplus
            }
            #endif
            """)
        #expect(found.map(\.name) == ["S"])
    }
}
