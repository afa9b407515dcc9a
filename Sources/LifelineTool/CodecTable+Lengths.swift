import Lifeline

// Codecs whose frames say how long they are, or all have one length.
extension CodecTable {
    static let lengthEntries = [
        CodecEntry(
            name: "length",
            forms: [
                "length:4be": """
                a length of 4 bytes, big-endian, before each frame; likewise 1, 2, 3
                or 8 bytes, and le for little-endian
                """,
                "length:varint": "the same with a LEB128 number",
                "length:4be:itself": """
                the number counts itself, too; further words behind a colon are
                whole (all of the frame is counted), offset=N and trailing=N (bytes
                of the header before and behind the length), adjust=N (added to the
                number) and keep (frames contain their header)
                """,
            ], options: ["--max"]
        ) { (form, options) throws(UsageError) in
            guard let layout = form.flatMap(layout) else { return nil }
            let most = options.maximum ?? LengthPrefixCodec.defaultMax
            // A header that is kept is a part of the frame.
            let header = layout.keepsHeader ? layout.offset + layout.trailing + 10 : 0
            return Framing(LengthPrefixCodec(layout: layout, max: most), max: sum(most, header), options)
        },
        CodecEntry(
            name: "prefixed", forms: ["prefixed:4be": "text in UTF-8 behind its length, whose forms are those of length:"],
            options: ["--max"]
        ) { (form, options) throws(UsageError) in
            guard let form, let layout = try? LengthLayout(parsing: "length:" + form) else { return nil }
            let most = options.maximum ?? PrefixedStringCodec.defaultMax
            // Texts as bytes, so that one that is none can be shown.
            return Framing(LengthPrefixCodec(layout: layout, max: most), max: most, check: BodyChecks.text, options)
        },
        CodecEntry(name: "netstring", forms: ["netstring": "such as 5:hello,"], options: ["--max"]) {
            (form, options) throws(UsageError) in
            guard form == nil else { return nil }
            let most = options.maximum ?? NetstringCodec.defaultMax
            return Framing(NetstringCodec(max: most), max: most, options)
        },
        CodecEntry(name: "fixed", forms: ["fixed:16": "frames of always 16 bytes"], options: []) {
            (form, options) throws(UsageError) in
            guard let size = form.flatMap({ Int($0) }), size > 0, size <= 1 << 30 else { return nil }
            // Of a line that is too long the codec has more to say.
            return Framing(FixedSizeCodec(size), max: max(size, DelimiterCodec.defaultMax), options)
        },
    ]

    /// Of a text such as `4be:offset=2:keep`; nil if it is none.
    private static func layout(_ form: String) -> LengthLayout? {
        let words = form.split(separator: ":", omittingEmptySubsequences: false).map(String.init)
        guard var layout = try? LengthLayout(parsing: "length:" + (words.first ?? "")) else { return nil }
        for word in words.dropFirst() {
            let parts = word.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
            let number = parts.count == 2 ? Int(parts[1]) : nil
            switch (parts[0], number) {
            case ("itself", nil) where parts.count == 1: layout.counts = .fieldAndPayload
            case ("whole", nil) where parts.count == 1: layout.counts = .wholeFrame
            case ("keep", nil) where parts.count == 1: layout.keepsHeader = true
            case ("offset", let number?) where number >= 0: layout.offset = number
            case ("trailing", let number?) where number >= 0: layout.trailing = number
            case ("adjust", let number?): layout.adjustment = number
            default: return nil
            }
        }
        return layout
    }

    private static func sum(_ most: Int, _ more: Int) -> Int { min(most, 1 << 60) + more }
}
