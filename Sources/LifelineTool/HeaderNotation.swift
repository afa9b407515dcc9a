import Lifeline

/// How the headers of a codec are written in a shell.
struct HeaderNotation<Header: Sendable>: Sendable {
    /// What one looks like, for people.
    let form: String
    /// The header of a frame that comes without one.
    let initial: String
    /// The header in text, without TAB and LF. ``parse`` makes the same header of it.
    let text: @Sendable (Header) -> String
    /// The header that a text stands for; nil if it is none.
    let parse: @Sendable (String) -> Header?
    /// How frames are numbered, so that answers find what they answer; nil where they aren't.
    var numbering: Numbering?

    /// The text that ``text`` gives for the same header; nil if it is none.
    func canonical(_ text: String) -> String? { parse(text).map(self.text) }
}

/// Numbers in headers that are written in text.
struct Numbering: Sendable {
    /// The number of a header; nil if it has none.
    let number: @Sendable (String) -> UInt32?
    /// The header with another number.
    let numbered: @Sendable (String, UInt32) -> String
}

extension HeaderNotation where Header == TypeHeader {
    /// `1/2`, or `1` without a sub type.
    static let types = HeaderNotation(
        form: "MAIN/SUB or MAIN, two numbers between -10 and 1000 such as 1/2",
        initial: "0",
        text: { $0.subType == TypeHeader.noSubType ? "\($0.mainType)" : "\($0.mainType)/\($0.subType)" },
        parse: { text in
            let parts = text.split(separator: "/", omittingEmptySubsequences: false)
            let numbers = parts.compactMap { Int32($0) }
            guard numbers.count == parts.count, parts.count <= 2 else { return nil }
            let header = TypeHeader(mainType: numbers[0], subType: numbers.count == 2 ? numbers[1] : TypeHeader.noSubType)
            return header.isPlausible ? header : nil
        })
}

extension HeaderNotation where Header == RequestHeader {
    /// `serial=7 command=2 code=0`; what is left out is 0.
    static let request = HeaderNotation(
        form: "serial=N command=N code=N, or some of them",
        initial: "",
        text: { $0.text },
        parse: { RequestHeader(text: $0) },
        numbering: Numbering(
            number: { text in
                guard let header = RequestHeader(text: text), !header.isPush else { return nil }
                return UInt32(bitPattern: header.serial)
            },
            numbered: { text, number in
                var header = RequestHeader(text: text) ?? RequestHeader(command: 0)
                header.serial = Int32(bitPattern: number)
                return header.text
            }))
}

extension RequestHeader {
    fileprivate var text: String { "serial=\(serial) command=\(command) code=\(code)" }

    fileprivate init?(text: String) {
        var values: [Substring: Int32] = ["serial": 0, "command": 0, "code": 0]
        for word in text.split(separator: " ") {
            let parts = word.split(separator: "=", omittingEmptySubsequences: false)
            guard parts.count == 2, let value = Int32(parts[1]), values.updateValue(value, forKey: parts[0]) != nil else { return nil }
        }
        self.init(serial: values["serial"] ?? 0, command: values["command"] ?? 0, code: values["code"] ?? 0)
    }
}

extension HeaderNotation where Header: FixedWidthInteger {
    /// The number.
    static var number: HeaderNotation {
        HeaderNotation(
            form: "a type from 0 to \(Header.max)",
            initial: "0",
            text: { String($0) },
            parse: { Header($0) })
    }
}

extension HeaderNotation where Header == JSONHeader {
    /// `{"type":"x"}`; nothing for an empty header.
    static let json = HeaderNotation(
        form: "a JSON object without a size, such as {\"type\":\"x\"}",
        initial: "",
        text: { $0.values.isEmpty ? "" : $0.description },
        parse: { text in
            if text.isEmpty { return JSONHeader() }
            guard let values = JSONText.value(of: Bytes(text))?.objectValue, values["size"] == nil else { return nil }
            return JSONHeader(values)
        })
}
