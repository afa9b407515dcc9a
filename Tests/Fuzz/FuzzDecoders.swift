import LifelineCore
import LifelineJSON

/// Every decoder, by the name of its folder in `Corpus`.
let decoders: [String: @Sendable () -> [Check]] = [
    "delimiters": delimiters,
    "headers": headers,
    "json-bodies": bodies,
    "json-headers": { [check(.jsonHeader(maxHeader: 64, max: limit), Packet(header: JSONHeader(), body: Bytes()), headroom: 66)] },
    "lengths": lengths,
    "lines": lines,
    "netstrings": { [check(.netstring(max: limit), Bytes()), check(.fixedSize(7), Bytes())] },
    "raw": { [check(.raw, Bytes(), rest: .isStream)] },
    "texts": texts,
    "triples": triples,
]

/// Bodies of any kind: none may trap, and what was read has to be read again from what is written for it.
@Sendable private func bodies() -> [Check] {
    let codec = RawCodec().json(of: JSONValue.self)
    return [
        { stream, _ in
            guard let value = try? codec.message(from: Bytes(stream)) else { return }
            guard let text = try? codec.frame(for: value), (try? codec.message(from: text)) == value else {
                fatalError("\(value) isn't read as it was written")
            }
        }
    ]
}

/// Terminators that make each kind of search, with what is sent so that a reader takes it.
private let terminators: [(LineTerminator, Delimiter)] = [
    (.lf, .lf), (.crlf, .crlf), (.either, .lf), (.either, .crlf), (.delimiter("aab"), "aab"), (.delimiter("\r\n\r"), "\r\n\r"),
    (.delimiter("--a-long-end--a-long-end--"), "--a-long-end--a-long-end--"),
]

@Sendable private func lines() -> [Check] {
    terminators.flatMap { accepting, sending in
        [DelimiterCodec.OverlongRule.fail, .drop].flatMap { overlong in
            [
                check(.lines(accepting: accepting, sending: sending, max: limit, overlong: overlong), ""),
                check(
                    .lines(
                        accepting: accepting, sending: sending, max: limit, overlong: overlong, unterminated: .deliver,
                        invalidText: .replace),
                    "", rest: .isFrame),
            ]
        }
    }
}

@Sendable private func delimiters() -> [Check] {
    terminators.flatMap { accepting, sending in
        [DelimiterCodec.OverlongRule.fail, .drop].flatMap { overlong in
            [DelimiterCodec.UnterminatedRule.fail, .deliver].map { unterminated in
                check(
                    DelimiterCodec(
                        accepting: accepting, sending: sending, max: limit, overlong: overlong, unterminated: unterminated),
                    Bytes(), rest: unterminated == .fail ? .isTruncated : .isFrame)
            }
        }
    }
}

@Sendable private func lengths() -> [Check] {
    LengthLayout.Width.allCases.flatMap { width in
        LengthLayout.Counts.allCases.flatMap { counts in
            [(Endianness.big, 0, 0, 0), (.little, 2, 1, -3), (.little, 1, 3, 5)].map { order, offset, trailing, adjustment in
                let layout = LengthLayout(
                    width: width, order: order, offset: offset, trailing: trailing, counts: counts, adjustment: adjustment,
                    keepsHeader: offset == 1)
                // A kept header's varint is sent in its shortest form.
                return check(
                    .lengthPrefixed(layout: layout, max: limit), Bytes(), isRepeatable: !layout.keepsHeader || width != .varint)
            }
        }
    }
}

/// `A5 5A | type | length`, before the payload and a check value.
private struct DeviceHeader: FixedHeader, Equatable {
    var mark: UInt16 = 0xA55A
    var type: UInt8
    private var length: UInt8 = 0

    static var byteCount: Int { 4 }
    init(type: UInt8) { self.type = type }
    init(from input: ByteInput) {
        mark = input.load(at: 0, .big)
        type = input[2]
        length = input[3]
    }
    func write(to output: inout ByteOutput) {
        output.append(mark, .big)
        output.append(type)
        output.append(length)
    }
    var bodyCount: Int? { Int(length) }
    mutating func setBodyCount(_ count: Int) throws(SocketError) { length = try Self.length(count) }
    var isPlausible: Bool { mark == 0xA55A }
    static func == (left: DeviceHeader, right: DeviceHeader) -> Bool { left.type == right.type }
}

@Sendable private func headers() -> [Check] {
    let device = HeaderCodec(DeviceHeader.self, max: limit, check: .xor(from: 2))
    let packet = Packet(header: DeviceHeader(type: 1), body: Bytes())
    let type = Packet(header: TypeHeader(mainType: 1), body: Bytes())
    let request = Packet(header: RequestHeader(command: 1), body: Bytes())
    return [
        check(device, packet),
        check(device.resynchronizing(budget: 30), packet),
        check(device.resynchronizing(rejected: .skipWhole), packet),
        check(.typeHeader(max: limit, budget: 50), type),
        check(.headed(by: TypeHeader.self, max: limit), type),
        check(.requestHeader(max: limit), request),
        check(.requestHeader(.little, counts: .body, max: limit), request),
        check(RequestHeaderCodec(max: limit).resynchronizing(budget: 20), request),
    ]
}

@Sendable private func texts() -> [Check] {
    LengthLayout.Width.allCases.flatMap { width in
        [InvalidTextRule.fail, .replace].map { check(.prefixedString(length: width, max: limit, invalidText: $0), "") }
    }
}

@Sendable private func triples() -> [Check] {
    LengthLayout.Width.allCases.flatMap { width in
        LengthLayout.Counts.allCases.flatMap { counts in
            let codec = TLVCodec(type: UInt8.self, length: width, counts: counts, max: limit)
            let frame = Packet(header: 0 as UInt8, body: Bytes())
            return [check(codec, frame), check(codec.resynchronizing(budget: 20), frame)]
        }
    }
}
