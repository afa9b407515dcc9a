import Testing

@testable import HeaderGeneration

struct ParserTests {
    private func fields(_ text: String) throws -> [String] {
        try model("// lifeline: little-endian; n counts body\n\(text)").fields.map { field in
            "\(field.source.type.swiftName)\(field.source.count.map { "[\($0)]" } ?? "") \(field.source.name)"
        }
    }

    @Test func integersInEachSpelling() throws {
        let spellings = [
            ("int8_t", "Int8"), ("uint8_t", "UInt8"), ("int16_t", "Int16"), ("uint16_t", "UInt16"), ("int32_t", "Int32"),
            ("uint32_t", "UInt32"), ("int64_t", "Int64"), ("uint64_t", "UInt64"), ("int", "Int32"), ("signed", "Int32"),
            ("signed int", "Int32"), ("unsigned int", "UInt32"), ("unsigned", "UInt32"), ("int unsigned", "UInt32"), ("short", "Int16"),
            ("short int", "Int16"), ("unsigned short", "UInt16"), ("unsigned short int", "UInt16"), ("char", "UInt8"),
            ("signed char", "Int8"),
            ("unsigned char", "UInt8"), ("long long", "Int64"), ("long long int", "Int64"), ("unsigned long long", "UInt64"),
            ("long unsigned long", "UInt64"), ("const volatile int", "Int32"), ("int const", "Int32"),
        ]
        for (spelling, type) in spellings { #expect(try fields("struct s { int n; \(spelling) a; };")[1] == "\(type) a", "\(spelling)") }
    }

    @Test func severalNamesOnALine() throws {
        #expect(
            try fields("struct s { int n, b[2], c; char d[4], e; };") == ["Int32 n", "Int32[2] b", "Int32 c", "UInt8[4] d", "UInt8 e"])
    }

    @Test func typedefsAndMacrosForTypes() throws {
        let found = try model(
            "typedef unsigned char BYTE;\ntypedef BYTE OCTET;\n#define U32 unsigned int\n// lifeline: big-endian, n counts body\nstruct s { U32 n; OCTET a[6]; };"
        )
        #expect(found.fields.map(\.source.type.swiftName) == ["UInt32", "UInt8"])
    }

    @Test(arguments: [
        ("struct chat_header { int n; };", "ChatHeader"), ("typedef struct { int n; } chat_header_t;", "ChatHeader"),
        ("typedef struct tag_chat { int n; } ChatHead;", "ChatHead"), ("struct CHAT_HEADER { int n; };", "ChatHeader"),
        ("struct HTTPHead { int n; };", "HTTPHead"), ("struct _head { int n; };", "Head"), ("struct t { int n; };", "T"),
    ])
    func structsGetTheirNames(text: String, name: String) throws {
        #expect(try model("// lifeline: little-endian; n counts body\n" + text).name == name)
    }

    @Test func fieldsGetTheirNames() {
        let names = [
            ("main_type", "mainType"), ("mainType", "mainType"), ("MainType", "mainType"), ("BODY_LEN", "bodyLen"), ("id", "id"),
            ("ID", "id"),
            ("URL_path", "urlPath"), ("_x", "x"), ("x_", "x"), ("__", "__"), ("_1x", "_1x"), ("crc32", "crc32"), ("m_nType", "mNType"),
        ]
        for (name, expected) in names { #expect(SwiftName.property(name) == expected) }
    }

    @Test func packingComesFromAttributesAndPragmas() throws {
        let head = "// lifeline: little-endian; n counts body\n"
        let fields = "{ char c; int n; }"
        #expect(try model("\(head)struct s \(fields);").size == 8)
        #expect(try model("\(head)struct __attribute__((packed)) s \(fields);").size == 5)
        #expect(try model("\(head)struct s \(fields) __attribute__((__packed__, unused));").size == 5)
        #expect(try model("\(head)typedef struct \(fields) __attribute__((packed)) s;").size == 5)
        #expect(try model("#define PACKED __attribute__((packed))\n\(head)struct PACKED s \(fields);").size == 5)
        #expect(try model("#pragma pack(1)\n\(head)struct s \(fields);").size == 5)
        #expect(try model("#pragma pack(push, 2)\n\(head)struct s \(fields);").size == 6)
        #expect(try model("#pragma pack(push, 1)\n#pragma pack(pop)\n\(head)struct s \(fields);").size == 8)
        #expect(try model("#pragma pack(1)\n#pragma pack()\n\(head)struct s \(fields);").size == 8)
        #expect(try model("#pragma pack(push)\n#pragma pack(1)\n#pragma pack(pop)\n\(head)struct s \(fields);").size == 8)
    }

    @Test func whatThePreprocessorLeavesOutIsNoC() throws {
        let text = "#if 0\nlong\n#else\nint\n#endif\n"
        #expect(
            try model("#ifdef __cplusplus\nextern \"C\" {\n#else\n#endif\n// lifeline: little-endian; n counts body\nstruct s { int n; };")
                .size == 4)
        #expect(
            try model(
                "#define WIDE\n#ifdef WIDE\n#define T long long\n#else\n#define T int\n#endif\n// lifeline: little-endian; n counts body\nstruct s { T n; };"
            ).size == 8)
        #expect(try model("// lifeline: little-endian; n counts body\nstruct s {\n\(text) n; };").size == 4)
    }
}
