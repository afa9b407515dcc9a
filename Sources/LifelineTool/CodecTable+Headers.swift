import Lifeline

// Codecs whose frames have a header of their own beside the body.
extension CodecTable {
    static let headerEntries = [
        CodecEntry(
            name: "tlv", forms: ["tlv:1:2be": "type, length, value: a type of 1 byte (1, 2, 4 or 8), a length of 2,\nboth big-endian"],
            options: ["--max", "--header"]
        ) { (form, options) throws(UsageError) in
            let parts = (form ?? "").split(separator: ":", omittingEmptySubsequences: false)
            guard parts.count == 2, let layout = try? LengthLayout(parsing: "length:" + parts[1]) else { return nil }
            return switch parts[0] {
            case "1": try triples(UInt8.self, layout, options)
            case "2": try triples(UInt16.self, layout, options)
            case "4": try triples(UInt32.self, layout, options)
            case "8": try triples(UInt64.self, layout, options)
            default: nil
            }
        },
        CodecEntry(
            name: "json-header", forms: ["json-header": "{\"size\":\"5\"} CR LF before each frame, with other keys in it"],
            options: ["--max", "--header"]
        ) { (form, options) throws(UsageError) in
            guard form == nil else { return nil }
            let most = options.maximum ?? JSONHeaderCodec.defaultMax
            return try Framing(JSONHeaderCodec(max: most), .json, max: most, options)
        },
        CodecEntry(
            name: "type-header",
            forms: [
                "type-header": """
                16 bytes little-endian: version 1, main type, sub type, length; what
                is none is skipped, up to 64 KiB between frames
                """
            ],
            options: ["--max", "--header", "--skip"]
        ) { (form, options) throws(UsageError) in
            guard form == nil else { return nil }
            let most = options.maximum ?? HeaderCodec<TypeHeader>.defaultMax
            let budget = options.budget ?? Resynchronizing<HeaderCodec<TypeHeader>>.defaultBudget
            return try Framing(HeaderCodec(TypeHeader.self, max: most).resynchronizing(budget: budget), .types, max: most, options)
        },
        CodecEntry(
            name: "request-header",
            forms: [
                "request-header:be": """
                16 bytes: length of all, serial, command, code; le for little-endian,
                and :body behind it if the length is that of the body
                """
            ],
            options: ["--max", "--header"]
        ) { (form, options) throws(UsageError) in
            let words = (form ?? "be").split(separator: ":", omittingEmptySubsequences: false)
            let orders: [Substring: Endianness] = ["be": .big, "le": .little]
            guard words.count <= 2, let order = orders[words[0]], words.count == 1 || words[1] == "body" else { return nil }
            let most = options.maximum ?? RequestHeaderCodec.defaultMax
            let codec = RequestHeaderCodec(order, counts: words.count == 2 ? .body : .wholePacket, max: most)
            return try Framing(codec, .request, max: most, options)
        },
    ]

    private static func triples<Tag: FixedWidthInteger & Sendable>(
        _ type: Tag.Type, _ layout: LengthLayout, _ options: FramingOptions
    ) throws(UsageError) -> Framing {
        let most = options.maximum ?? LengthPrefixCodec.defaultMax
        let codec = TLVCodec(type: type, length: layout.width, layout.order, max: most)
        return try Framing(codec, HeaderNotation<Tag>.number, max: most, options)
    }
}
