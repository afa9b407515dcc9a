import Testing

@testable import HeaderGeneration

struct AnnotationTests {
    @Test func annotationsStandAboveTheStructOrAtItsFields() throws {
        let texts = [
            "// lifeline: little-endian; n counts body; k == 1\nstruct s { int k; int n; };",
            "// lifeline: little-endian, n counts body\n// lifeline: k == 1\nstruct s { int k; int n; };",
            "/* The header.\n * lifeline: little-endian; n counts body\n * lifeline: k == 1\n */\nstruct s { int k; int n; };",
            "struct s { // lifeline: little-endian\n int k; // lifeline: == 1\n int n; // lifeline: counts body\n};",
            "struct s {\n // lifeline: == 1\n int k;\n /* lifeline: counts body */\n int n;\n}; // lifeline: little-endian",
            "struct s {\n int k, // lifeline: == 1; little-endian\n n; // lifeline: counts body; little-endian\n};",
        ]
        for text in texts {
            let header = try model(text)
            #expect(header.length == 1 && header.counted == .body)
            #expect(header.fields.map(\.order) == [.little, .little])
            #expect(header.fields.map(\.range) == [1...1, nil], "\(text)")
        }
    }

    @Test func aCommentBehindAStructIsNotAboutTheNext() throws {
        let found = try models(
            "struct s { int n; }; // lifeline: little-endian; n counts body\nstruct t { int n; }; // lifeline: big-endian; n counts packet")
        #expect(found.map(\.counted) == [.body, .packet])
        #expect(found.map { $0.fields[0].order } == [.little, .big])
    }

    @Test func oneCommentIsAboutAllFieldsOfItsLine() throws {
        let header = try model(
            "// lifeline: little-endian; n counts body\nstruct s {\n int n;\n int a, b; int c; // lifeline: in -9...999\n // lifeline: > 4\n int d, e;\n};"
        )
        #expect(header.fields.map(\.range) == [nil, -9...999, -9...999, -9...999, 5...Int128(Int32.max), 5...Int128(Int32.max)])
    }

    @Test func rangesOfOneFieldNarrowEachOther() throws {
        func range(_ text: String, _ type: String = "int") throws -> ClosedRange<Int128>? {
            try model("#define V 7\nenum { A = 3 };\n// lifeline: big-endian; n counts body; \(text)\nstruct s { int n; \(type) a; };")
                .fields[1].range
        }
        #expect(try range("a >= 1, a < 10") == 1...9)
        #expect(try range("a in 1..<10; a in 5...9") == 5...9)
        #expect(try range("a == V") == 7...7)
        #expect(try range("a in A...V") == 3...7)
        #expect(try range("a == 0x5AA5", "uint16_t") == 0x5AA5...0x5AA5)
        #expect(try range("a == -V") == -7 ... -7)
        #expect(try range("a < 5", "uint8_t") == 0...4)
    }

    @Test func whatTheLengthCountsBesideTheBody() throws {
        func overhead(_ counted: String) throws -> Int {
            try model("// lifeline: big-endian; n counts \(counted)\nstruct s { char k; short n; char c; int d; };").overhead
        }
        #expect(try overhead("body") == 0)
        #expect(try overhead("packet") == 12)
        #expect(try overhead("rest") == 8)
    }

    @Test func aSideFileLeavesTheCFileAsItIs() throws {
        let c = "struct s { int n; };\ntypedef struct tag { int n; } t;\nstruct other { long n; };"
        let swift = try generate(
            c, side: "// lifeline: s: big-endian; n counts body\n/* lifeline: tag: little-endian\n lifeline: t: n counts packet */")
        #expect(swift.contains("struct S: ") && swift.contains("struct T: ") && !swift.contains("Other"))
        // Both together are one.
        #expect(refusal("// lifeline: big-endian\nstruct s { int n; };", side: "// lifeline: s: n counts body") == nil)
    }

    /// An annotation and a part of the message; the fault is in line 1.
    static let faults: [(String, Int, String)] = [
        ("n counts body", 0, "the byte order of `n` isn't said"),
        ("big-endian", 0, "doesn't say which field is the length"),
        ("", 14, "an annotation is missing here"),
        ("big-endian; n counts", 34, "say what the length counts"),
        ("big-endian; n counts all", 35, "say what the length counts"),
        ("big-endian; n counts body; k counts body", 41, "`n counts body` was said before"),
        ("big-endian; n counts body; n counts rest", 41, "`n counts body` was said before"),
        ("big-endian; little-endian", 26, "the byte order was said before"),
        ("public; internal", 22, "the access level was said before"),
        ("as One; as Two", 22, "the Swift name was said before"),
        ("k as one; k as two", 24, "the Swift name of `k` was said before"),
        ("middle-endian", 14, "`middle` says nothing"),
        ("counts body", 14, "say which field this is about"),
        ("== 1", 14, "say which field this is about"),
        ("x == 1", 14, "`struct s` has no field `x`"),
        ("k is 1", 14, "`k` says nothing"),
        ("k == one", 19, "`one` isn't a whole number"),
        ("k == 1.5", 19, "`1.5` isn't a whole number"),
        ("k ==", 18, "a number is missing"),
        ("k == 1 2", 21, "`2` isn't known here"),
        ("k in 5...1", 23, "this range is empty"),
        ("k in 5-1", 20, "a range is written `A...B`"),
        ("k == 1; k == 2", 22, "no value of `k` is like that"),
        ("k == 128", 14, "no value of `k` is like that; its range is -128...127"),
        ("k in 0...128", 14, "this range is larger than that of `int8_t`"),
        ("k == \"A\"", 14, "only `char[n]` can be compared with a string"),
        ("t == \"ABCDE\"", 14, "of at most 4 bytes"),
        ("t == \"é\"", 14, "plain ASCII"),
        ("t == 5", 14, "`t` is an array"),
        ("t counts body", 14, "`t` is an array; only an integer can be the length"),
        ("k public", 14, "the access level stands above the struct"),
        ("big-endian; n counts body; as Int32", 0, "`Int32` is a name of Swift's or Lifeline's"),
        ("as", 16, "a name for Swift is missing here"),
        ("k == \"A", 13, "in the annotation: this literal doesn't end"),
    ]

    @Test(arguments: faults)
    func whatCantBeMeantIsAnErrorWithItsPlace(text: String, column: Int, message: String) throws {
        let error = try #require(refusal("/* lifeline: \(text)\n*/ struct s { int n; int8_t k; char t[4]; };"))
        #expect(error.contains(message), "\(error)")
        if column > 0 { #expect(error.hasPrefix("/team/chat.h:1:\(column): error: "), "\(error)") }
        if column == 0 { #expect(error.hasPrefix("/team/chat.h:2:"), "\(error)") }
    }

    /// Text around annotations, the place of the fault and a part of the message.
    static let places: [(String, String, String)] = [
        ("struct s { int n; };", "1:1", "no struct here has an annotation"),
        ("", "1:1", "no struct here has an annotation"),
        ("// lifeline: big-endian\nint x;\nstruct s { int n; };", "1:13", "belongs to no struct"),
        ("struct s { int n; };\n\n// lifeline: big-endian", "3:13", "belongs to no struct"),
        ("#if 0\n// lifeline: big-endian\n#endif\nstruct s { int n; };", "2:13", "the preprocessor leaves the text out"),
        ("struct s { int n;\n// lifeline: big-endian\n};", "2:13", "belongs to no field"),
        ("struct s {\nint n, // lifeline: k == 1\nk; };", "2:21", "about that field only"),
        ("struct s {\nint n; // lifeline: public\n};", "2:21", "the access level stands above the struct"),
        ("// lifeline: big-endian; n counts packet\nstruct s { char a[300]; uint8_t n; };", "2:33", "`uint8_t` can't hold as much"),
        ("// lifeline: big-endian; n counts body\nstruct s { int n; int main_type; int mainType; };", "2:38", "`mainType` is taken"),
        ("// lifeline: big-endian; n counts body\nstruct s { int n; int body_count; };", "2:23", "`bodyCount` is taken"),
        ("// lifeline: big-endian; n counts body\nstruct s { int n; char a[2]; int a_text; };", "2:24", "`aText`, which comes with `a`"),
        (
            "// lifeline: big-endian; n counts body\nstruct s { int n; };\n// lifeline: big-endian; n counts body; as S\nstruct t { int n; };",
            "4:1", "there is a header `S` already"
        ),
    ]

    @Test(arguments: places)
    func annotationsInWrongPlacesAreErrors(text: String, place: String, message: String) throws {
        let error = try #require(refusal(text))
        #expect(error.hasPrefix("/team/chat.h:\(place): error: ") && error.contains(message), "\(error)")
    }

    @Test(arguments: [
        ("// lifeline: big-endian", "1:13", "the struct's name and a colon are missing"),
        ("\n// lifeline: x: big-endian", "2:13", "the C file has no struct `x`"),
        ("// lifeline: s: big-endian; m counts body", "1:29", "has no field `m`"),
        ("int x;", "1:1", "this file holds comments with annotations only"),
        ("// lifeline: s: little-endian", "1:17", "the byte order was said before"),
    ])
    func faultsInTheSideFileAreToldThere(side: String, place: String, message: String) throws {
        let error = try #require(refusal("// lifeline: big-endian; n counts body\nstruct s { int n; };", side: side))
        #expect(error.hasPrefix("/team/chat.lifeline.h:\(place): error: ") && error.contains(message), "\(error)")
    }
}
