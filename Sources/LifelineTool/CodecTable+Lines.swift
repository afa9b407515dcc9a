import Lifeline

// Codecs whose frames end at a terminator.
extension CodecTable {
    static let lineEntries = [
        CodecEntry(
            name: "line",
            forms: [
                "line": "LF or CR LF ends a line, LF is sent (default)",
                "line:crlf/lf": "what ends a line and what is sent: lf, crlf or either / lf or crlf",
            ], options: ["--max", "--drop"]
        ) { (form, options) throws(UsageError) in
            guard form == nil || form?.contains("/") == true else { return nil }
            return terminators(form ?? "either/lf").map { lines($0, options) }
        },
        CodecEntry(
            name: "crlf", forms: ["crlf": "CR LF ends a line and is sent"], options: ["--max", "--drop"]
        ) { (form, options) throws(UsageError) in
            form == nil ? lines(Terminators(accepting: .crlf, sending: .crlf), options) : nil
        },
        CodecEntry(
            name: "json-line", forms: ["json-line": "lines that are JSON; likewise json-line:crlf/lf and so on"],
            options: ["--max", "--drop"]
        ) { (form, options) throws(UsageError) in
            terminators(form ?? "either/lf").map { lines($0, options, check: BodyChecks.json) }
        },
        CodecEntry(
            name: "delimiter",
            forms: ["delimiter:\\0": "bytes of your own end a frame and are sent: any text with\n\\r, \\n, \\t, \\0, \\\\ and \\xHH in it"],
            options: ["--max", "--drop"]
        ) { (form, options) throws(UsageError) in
            guard let bytes = form.flatMap({ Escapes.bytes(of: $0) }), let delimiter = try? Delimiter(Bytes(bytes)) else { return nil }
            let most = options.maximum ?? DelimiterCodec.defaultMax
            let codec = DelimiterCodec(
                accepting: .delimiter(delimiter), sending: delimiter, max: most, overlong: options.drops ? .drop : .fail)
            return Framing(codec, max: most, options)
        },
    ]

    /// What ends lines in either direction.
    struct Terminators {
        let accepting: LineTerminator
        let sending: Delimiter
    }

    /// Of a text such as `crlf/lf`; nil if it is none.
    private static func terminators(_ form: String) -> Terminators? {
        let accepted: [String: LineTerminator] = ["lf": .lf, "crlf": .crlf, "either": .either]
        let sent: [String: Delimiter] = ["lf": .lf, "crlf": .crlf]
        let parts = form.split(separator: "/", omittingEmptySubsequences: false).map(String.init)
        guard parts.count == 2, let accepting = accepted[parts[0]], let sending = sent[parts[1]] else { return nil }
        return Terminators(accepting: accepting, sending: sending)
    }

    private static func lines(_ ends: Terminators, _ options: FramingOptions, check: BodyCheck? = nil) -> Framing {
        let most = options.maximum ?? DelimiterCodec.defaultMax
        let codec = DelimiterCodec(
            accepting: ends.accepting, sending: ends.sending, max: most, overlong: options.drops ? .drop : .fail)
        return Framing(
            codec, splitting: ends.accepting == .lf ? .lf : .either, max: most, check: check,
            receivedCheck: options.checksText && check == nil ? BodyChecks.text : nil,
            options)
    }
}
