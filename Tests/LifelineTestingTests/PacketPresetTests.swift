import LifelineCore
import LifelineTesting
import Testing

/// Every codec of the house whose frames are packets keeps every rule.
@Suite("Codecs of the house for packets")
struct PacketPresetTests {
    private static func body(_ count: Int) -> Bytes { Bytes(repeatElement(0x78, count: count)) }

    @Test("packets with two types, found again behind garbage")
    func typeHeaders() throws {
        let messages = [Bytes(), Bytes(0...20)].flatMap { body in
            [TypeHeader(mainType: 1), TypeHeader(mainType: -9, subType: 999)].map { Packet(header: $0, body: body) }
        }
        @Sendable func message(_ count: Int) -> Packet<TypeHeader, Bytes> {
            Packet(header: TypeHeader(mainType: 7), body: Self.body(count))
        }
        var verifier = CodecVerifier(.headed(by: TypeHeader.self, max: 60), messages: messages)
        verifier.limit = .init(60, larger: .headed(by: TypeHeader.self, max: 4000), message: message)
        verifier.unsendable = [Packet(header: TypeHeader(mainType: 1000), body: Bytes())]
        try verifier.run()
        for budget in [500, 4000] {
            var verifier = CodecVerifier(.typeHeader(max: 60, budget: budget), messages: messages)
            verifier.limit = .init(60, larger: .typeHeader(max: 4000), overlong: .isDropped, message: message)
            verifier.unsendable = [Packet(header: TypeHeader(mainType: 1000), body: Bytes())]
            try verifier.run()
        }
    }

    @Test("requests and responses", arguments: [Endianness.big, .little], RequestHeaderCodec.Counts.allCases)
    func requestHeaders(order: Endianness, counts: RequestHeaderCodec.Counts) throws {
        var verifier = CodecVerifier(
            .requestHeader(order, counts: counts, max: 60),
            messages: [
                Packet(header: RequestHeader(command: 1), body: Bytes()),
                Packet(header: RequestHeader(serial: .min, command: -1, code: .max), body: Bytes(0...20)),
            ])
        verifier.limit = .init(60, larger: .requestHeader(order, counts: counts, max: 4000)) {
            Packet(header: RequestHeader(serial: 5, command: 9), body: Self.body($0))
        }
        verifier.rounds = 50
        try verifier.run()
    }

    @Test("a mark, a length and a check value", arguments: [RejectedFrameRule.searchInside, .skipWhole])
    func deviceHeaders(rejected: RejectedFrameRule) throws {
        let messages = [Packet(header: DeviceHeader(type: 1), body: Bytes()), Packet(header: DeviceHeader(type: 0xA5), body: Bytes(0...9))]
        @Sendable func message(_ count: Int) -> Packet<DeviceHeader, Bytes> {
            Packet(header: DeviceHeader(type: 2), body: Self.body(count))
        }
        func codec(_ max: Int) -> HeaderCodec<DeviceHeader> { HeaderCodec(DeviceHeader.self, max: max, check: .xor(from: 2)) }
        var verifier = CodecVerifier(codec(60), messages: messages)
        verifier.limit = .init(60, larger: codec(4000), message: message)
        try verifier.run()
        var search = CodecVerifier(codec(60).resynchronizing(rejected: rejected), messages: messages)
        search.limit = .init(60, larger: codec(4000).resynchronizing(), overlong: .isDropped, message: message)
        try search.run()
    }

    @Test("types, lengths, values", arguments: LengthLayout.Width.allCases)
    func triples(width: LengthLayout.Width) throws {
        for counts in LengthLayout.Counts.allCases {
            func codec(_ max: Int) -> TLVCodec<UInt16> { .tlv(type: UInt16.self, length: width, .little, counts: counts, max: max) }
            var verifier = CodecVerifier(
                codec(60),
                messages: [Packet(header: 0, body: Bytes()), Packet(header: 0xFFFF, body: [0]), Packet(header: 1, body: Bytes(0...20))])
            verifier.limit = .init(60, larger: codec(1000)) { Packet(header: 7, body: Self.body($0)) }
            verifier.rounds = 20
            try verifier.run()
            var search = CodecVerifier(codec(60).resynchronizing(budget: 200), messages: [])
            search.rounds = 20
            try search.run()
        }
    }
}

/// `A5 5A | type | length`.
private struct DeviceHeader: FixedHeader, Equatable {
    var mark: UInt16 = 0xA55A
    var type: UInt8
    private var length: UInt16 = 0

    static var byteCount: Int { 5 }
    init(type: UInt8) { self.type = type }
    init(from input: ByteInput) {
        mark = input.load(at: 0, .big)
        type = input[2]
        length = input.load(at: 3, .little)
    }
    func write(to output: inout ByteOutput) {
        output.append(mark, .big)
        output.append(type)
        output.append(length, .little)
    }
    var bodyCount: Int? { Int(length) }
    mutating func setBodyCount(_ count: Int) throws(SocketError) { length = try Self.length(count) }
    var isPlausible: Bool { mark == 0xA55A }
    static func == (left: DeviceHeader, right: DeviceHeader) -> Bool { left.type == right.type }
}
