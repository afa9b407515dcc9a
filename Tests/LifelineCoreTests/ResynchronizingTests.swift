import LifelineCore
import Testing

/// `A5 5A | type | length`, before the payload and a check value.
private struct DeviceHeader: FixedHeader, Equatable {
    var mark: UInt16 = 0xA55A
    var type: UInt8
    private var length: UInt8 = 0

    init(type: UInt8) { self.type = type }
    static var byteCount: Int { 4 }
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

private func skipped(_ byteCount: Int) -> Finding { Finding(.skippedBytes, byteCount: byteCount) }

/// A header whose initialiser takes memory: at garbage it isn't to be read.
private struct ListHeader: FixedHeader, Equatable {
    static let mark: UInt8 = 0xA5
    let numbers: [UInt8]

    static var byteCount: Int { 6 }
    init(from input: ByteInput) {
        #expect(input[0] == Self.mark && input[1] <= 9, "read at garbage")
        numbers = (0..<6).map { input[$0] }
    }
    func write(to output: inout ByteOutput) { for number in numbers { output.append(number) } }
    var bodyCount: Int? { Int(numbers[1]) }
    mutating func setBodyCount(_ count: Int) {}
    static func bodyCount(in input: ByteInput) -> Int? { input[0] == mark ? Int(input[1]) : nil }
}

@Suite("Resynchronizing")
struct ResynchronizingTests {
    private let device = HeaderCodec(DeviceHeader.self, max: 64, check: .xor(from: 2))
    /// A good frame.
    private let g1: [UInt8] = [0xA5, 0x5A, 1, 2, 0x11, 0x22, 0x30]
    private let good = Packet(header: DeviceHeader(type: 1), body: Bytes([0x11, 0x22] as [UInt8]))

    private func typed(_ mainType: Int32, _ body: String) -> Packet<TypeHeader, Bytes> {
        Packet(header: TypeHeader(mainType: mainType), body: Bytes(body))
    }

    /// Bytes at none of which a header of ``TypeHeader`` is plausible.
    private func garbage(_ count: Int) -> [UInt8] { [UInt8](repeating: 0xEE, count: count) }

    @Test("the frame of a device: mark, type, length, payload, exclusive or")
    func deviceFrame() throws {
        #expect(try encode(device, good) == g1)
        #expect(feedEveryWay(device, g1 + g1).frames == [good, good])
        var wrong = g1
        wrong[6] = 0x31
        #expect(feedEveryWay(device, wrong).error?.code == .protocolViolation)
        #expect(feedEveryWay(device, wrong).error?.message.contains("0x31, which has to be 0x30") == true)
    }

    @Test("C25: an impossible length is not waited for")
    func c25ImpossibleLength() {
        let outcome = feedEveryWay(device.resynchronizing(), [0xA5, 0x5A, 1, 0xFF] + g1, ends: false)
        #expect(outcome.frames == [good])
        #expect(outcome.findings == [skipped(4)])
        #expect(outcome.pending == nil)
    }

    @Test("C27: a frame inside a rejected one is delivered by default, and skipped with it by the other rule")
    func c27FrameInsideFrame() {
        let outer = [0xA5, 0x5A, 9, 7] + g1 + [0]
        let inside = feedEveryWay(device.resynchronizing(), outer + g1)
        #expect(inside.frames == [good, good])
        #expect(inside.findings == [skipped(4), skipped(1)])
        #expect(inside.error == nil)
        let whole = feedEveryWay(device.resynchronizing(rejected: .skipWhole), outer + g1)
        #expect(whole.frames == [good])
        #expect(whole.findings == [skipped(12)])
        #expect(whole.error == nil)
    }

    @Test("garbage before, between and behind packets is skipped, and each run reported once")
    func garbageAnywhere() throws {
        let codec = Resynchronizing.typeHeader(max: 100)
        let one = try encode(codec, typed(1, "one"))
        let two = try encode(codec, typed(-9, ""))
        let outcome = feedEveryWay(codec, garbage(5) + one + one + garbage(33) + two + garbage(20))
        #expect(outcome.frames == [typed(1, "one"), typed(1, "one"), typed(-9, "")])
        // Of the last run, the bytes in which a header may begin are left.
        #expect(outcome.findings == [skipped(5), skipped(33), skipped(5)])
        #expect(outcome.error?.code == .truncated)
        #expect(outcome.pending?.description == "15 of 16 bytes of the header behind 5 skipped bytes")
    }

    @Test(
        "what is implausible in a header: version, types and length",
        arguments: [
            ([2, 0, 0, 0], [17, 0, 0, 0], [17, 0, 0, 0], [0, 0, 0, 0]), ([1, 0, 0, 1], [17, 0, 0, 0], [17, 0, 0, 0], [0, 0, 0, 0]),
            ([1, 0, 0, 0], [0xE8, 3, 0, 0], [17, 0, 0, 0], [0, 0, 0, 0]),
            ([1, 0, 0, 0], [0xF6, 0xFF, 0xFF, 0xFF], [17, 0, 0, 0], [0, 0, 0, 0]),
            ([1, 0, 0, 0], [17, 0, 0, 0], [0xE8, 3, 0, 0], [0, 0, 0, 0]),
            ([1, 0, 0, 0], [17, 0, 0, 0], [0xF6, 0xFF, 0xFF, 0xFF], [0, 0, 0, 0]),
            ([1, 0, 0, 0], [17, 0, 0, 0], [17, 0, 0, 0], [101, 0, 0, 0]), ([1, 0, 0, 0], [17, 0, 0, 0], [17, 0, 0, 0], [0, 0, 0, 0x80]),
            ([1, 0, 0, 0], [17, 0, 0, 0], [17, 0, 0, 0], [0xFF, 0xFF, 0xFF, 0xFF]),
        ] as [([UInt8], [UInt8], [UInt8], [UInt8])])
    func implausible(version: [UInt8], main: [UInt8], sub: [UInt8], length: [UInt8]) throws {
        let codec = Resynchronizing.typeHeader(max: 100)
        let next = try encode(codec, typed(999, "next"))
        let outcome = feedEveryWay(codec, version + main + sub + length + next)
        #expect(outcome.frames == [typed(999, "next")])
        #expect(outcome.findings == [skipped(16)])
        #expect(outcome.error == nil)
    }

    @Test("the bytes of a packet with two types")
    func typeHeaderBytes() throws {
        let frame = Packet(header: TypeHeader(mainType: 7, subType: 0x0102), body: Bytes("hi"))
        let codec = Resynchronizing.typeHeader()
        let low = Packet(header: TypeHeader(mainType: 258, subType: 3), body: Bytes("hi"))
        #expect(try encode(codec, low) == [1, 0, 0, 0, 2, 1, 0, 0, 3, 0, 0, 0, 2, 0, 0, 0] + utf8("hi"))
        #expect(try encode(codec, typed(-1, "")) == [1, 0, 0, 0, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0, 0, 0, 0])
        #expect(feedEveryWay(codec, try encode(codec, frame, low)).frames == [frame, low])
        #expect(TypeHeader(mainType: 1).subType == TypeHeader.noSubType)
        #expect(codec.budget == 65_536 && codec.base.max == 1 << 20)
    }

    @Test("a run of exactly the budget is skipped, one more byte ends the stream")
    func budgetIsExact() throws {
        let codec = Resynchronizing.typeHeader(budget: 10)
        let one = try encode(codec, typed(1, "one"))
        let within = feedEveryWay(codec, garbage(10) + one + garbage(10) + one)
        #expect(within.frames == [typed(1, "one"), typed(1, "one")])
        #expect(within.findings == [skipped(10), skipped(10)])
        #expect(within.error == nil)
        let beyond = feedEveryWay(codec, one + garbage(11) + one, ends: false)
        #expect(beyond.frames == [typed(1, "one")])
        #expect(beyond.findings == [skipped(10)])
        #expect(beyond.error?.code == .protocolViolation)
        #expect(beyond.error?.message.contains("11 bytes") == true && beyond.error?.message.contains("10 may be") == true)
        #expect(feedEveryWay(Resynchronizing.typeHeader(budget: -5), garbage(1) + one, ends: false).error?.code == .protocolViolation)
    }

    @Test("an error stays one, and is reported once")
    func errorStays() throws {
        var decoder = Resynchronizing.typeHeader(budget: 10).makeDecoder()
        var input = ByteInput(Bytes(garbage(40)))
        for _ in 0..<3 { #expect(throws: SocketError(.protocolViolation, "")) { try decoder.decode(from: &input) } }
        #expect(input.takeFindings() == [skipped(10)])
        var checked = device.resynchronizing(budget: 10, rejected: .skipWhole).makeDecoder()
        input = ByteInput(Bytes([0xA5, 0x5A, 9, 7] + g1 + [0]))
        for _ in 0..<3 { #expect(throws: SocketError(.protocolViolation, "")) { try checked.decode(from: &input) } }
    }

    @Test("a stream that ends behind skipped bytes ends cleanly; one that ends in a packet doesn't")
    func ends() throws {
        let rejected: [UInt8] = [0xA5, 0x5A, 9, 0, 0]
        let clean = feedEveryWay(device.resynchronizing(rejected: .skipWhole), g1 + rejected)
        #expect(clean.frames == [good])
        #expect(clean.findings == [skipped(5)])
        #expect(clean.error == nil && clean.pending == nil)
        let cut = feedEveryWay(
            Resynchronizing.typeHeader(), try garbage(3) + encode(Resynchronizing.typeHeader(), typed(1, "0123456789")).dropLast(4))
        #expect(cut.findings == [skipped(3)])
        #expect(cut.error?.pending?.description == "6 of 10 bytes behind 3 skipped bytes")
    }

    @Test("skipped bytes are reported with the next header, or with the next whole frame if it has a check")
    func whenReported() throws {
        let header = try encode(Resynchronizing.typeHeader(), typed(1, "0123456789")).prefix(20)
        #expect(feedEveryWay(Resynchronizing.typeHeader(), garbage(3) + header, ends: false).findings == [skipped(3)])
        #expect(feedEveryWay(device.resynchronizing(), garbage(3) + g1.dropLast(), ends: false).findings == [])
        #expect(feedEveryWay(device.resynchronizing(), garbage(3) + g1, ends: false).findings == [skipped(3)])
    }

    @Test("what was checked in vain doesn't count after a good frame")
    func vainChecksStartOver() {
        let rejected: [UInt8] = [0xA5, 0x5A, 0, 0, 1]
        let stream = Array(repeatElement(rejected + g1, count: 40).joined())
        // 5 bytes of 16 * 5 are checked in vain each time.
        let outcome = feedEveryWay(device.resynchronizing(budget: 5), stream)
        #expect(outcome.frames.count == 40 && outcome.error == nil)
    }

    @Test("a header that says its count by itself is read only where a frame can begin")
    func garbageIsNotRead() {
        // A wrong mark, and a mark with a length above the limit.
        let outcome = feedEveryWay(
            HeaderCodec(ListHeader.self, max: 9).resynchronizing(), garbage(9) + [0xA5, 10, 0, 0, 0, 0, 0, 0] + [0xA5, 1, 2, 3, 4, 5, 6])
        #expect(outcome.frames.map(\.header.numbers) == [[0xA5, 1, 2, 3, 4, 5]])
        #expect(outcome.findings == [skipped(17)])
    }

    @Test("skipped bytes leave memory at once")
    func flatMemory() throws {
        let codec = Resynchronizing.typeHeader(budget: 1 << 20)
        let outcome = feed(codec.makeDecoder(), Array(repeating: garbage(1000), count: 1000) + [try encode(codec, typed(1, "one"))])
        #expect(outcome.frames == [typed(1, "one")])
        #expect(outcome.findings == [skipped(1_000_000)])
        #expect(outcome.peak <= 2 * 1016)
    }

    /// Counts how often it is asked.
    private final class Counter: @unchecked Sendable {  // One test uses it, in one task.
        var starts = 0
        var wholes = 0
    }

    private struct Counting: HeaderedCodec {
        var base: HeaderCodec<DeviceHeader>
        let counter: Counter

        func frameStart(in input: ByteInput) -> FrameStart {
            counter.starts += 1
            return base.frameStart(in: input)
        }
        func takeFrame(of byteCount: Int, from input: inout ByteInput) -> Packet<DeviceHeader, Bytes>? {
            counter.wholes += byteCount
            return base.takeFrame(of: byteCount, from: &input)
        }
        var hasCheck: Bool { base.hasCheck }
        func decode(from input: inout ByteInput) throws -> Packet<DeviceHeader, Bytes>? { try base.decode(from: &input) }
        func pending(in input: ByteInput) -> PendingFrame? { base.pending(in: input) }
        func encode(_ frame: Packet<DeviceHeader, Bytes>, into output: inout ByteOutput) throws { try base.encode(frame, into: &output) }
    }

    @Test("nothing is looked at twice, and a body that isn't there yet costs nothing")
    func noRescan() throws {
        let counter = Counter()
        let codec = Counting(base: device, counter: counter).resynchronizing(budget: 1 << 20)
        let body = Bytes(repeatElement(1, count: 60))
        let frame = try encode(device, Packet(header: DeviceHeader(type: 1), body: body))
        // One byte at a time: header bytes are asked about as they come, the body isn't.
        #expect(feed(codec.makeDecoder(), frame.map { [$0] }).frames.map(\.body) == [body])
        #expect(counter.starts == 3 + 1 + 1 && counter.wholes == frame.count)
        counter.starts = 0
        _ = feed(codec.makeDecoder(), Array(repeating: garbage(1000), count: 100), ends: false)
        #expect(counter.starts <= 100_000 + 2 * 100)
    }

    @Test("frames checked in vain are bounded, and so is the work")
    func vainChecks() throws {
        let counter = Counter()
        let codec = Counting(base: HeaderCodec(DeviceHeader.self, check: .xor(from: 2)), counter: counter).resynchronizing(budget: 1000)
        // Each fourth byte begins a plausible header of 255 bytes whose check is wrong.
        let hostile = [UInt8](repeatElement([0xA5, 0x5A, 0x10, 0xFF], count: 10_000).joined())
        let outcome = feed(codec.makeDecoder(), [hostile], ends: false)
        #expect(outcome.error?.code == .protocolViolation)
        #expect(outcome.error?.message.contains("wrong check") == true)
        #expect(counter.wholes <= 16 * 1000 + 260)
        #expect(outcome.frames.isEmpty && outcome.findings.count == 1)
        #expect(feed(codec.makeDecoder(), hostile.map { [$0] }, ends: false) == outcome)
    }

    @Test("random bytes with good frames among them: all bytes are accounted for, however they arrive", arguments: 0..<20 as Range<UInt64>)
    func accounted(seed: UInt64) throws {
        var generator = SeededGenerator(state: seed)
        let alphabet: [UInt8] = [0xA5, 0x5A, 0, 1, 2, 3, 0x40]
        var stream: [UInt8] = []
        for _ in 0..<20 {
            stream += (0..<Int.random(in: 0..<12, using: &generator)).map { _ in alphabet.randomElement(using: &generator) ?? 0 }
            stream += g1
        }
        for rule in [RejectedFrameRule.searchInside, .skipWhole] {
            let outcome = feedEveryWay(device.resynchronizing(rejected: rule), stream)
            let framed = outcome.frames.reduce(0) { $0 + 5 + $1.body.count }
            let skipped = outcome.findings.reduce(0) { $0 + $1.byteCount }
            let left = outcome.error?.pending.map { $0.received + ($0.expected == 4 ? 0 : 4) } ?? 0
            #expect(framed + skipped + left == stream.count, "seed \(seed)")
        }
    }

    @Test("any codec with a header can be resynchronised, such as a length prefix with a low limit", arguments: LengthLayout.Width.allCases)
    func lengthPrefix(width: LengthLayout.Width) throws {
        let base = LengthPrefixCodec(layout: LengthLayout(width: width, counts: .fieldAndPayload), max: 10)
        let codec = base.resynchronizing(budget: 100)
        let one = try encode(base, Bytes("one"))
        let outcome = feedEveryWay(codec, garbage(20) + one + one)
        #expect(outcome.frames == [Bytes("one"), Bytes("one")])
        #expect(outcome.findings == [skipped(20)])
        #expect(feedEveryWay(codec, garbage(200), ends: false).error?.code == .protocolViolation)
    }

    /// One byte that counts the bytes behind it; a frame of none is the last of its format.
    private struct Marking: HeaderedCodec {
        var frames = 0

        func frameStart(in input: ByteInput) -> FrameStart {
            input[0] > 9 ? .impossible : .frame(byteCount: 1 + Int(input[0]))
        }
        mutating func decode(from input: inout ByteInput) throws -> String? {
            guard let size = input.peek(UInt8.self), let body = input.peek(1..<1 + Int(size)) else { return nil }
            input.skip(1 + body.count)
            frames += 1
            if body.isEmpty { input.stopAfterFrame() }
            input.report(Finding(.init("decoded"), byteCount: body.count))
            return "\(frames) \(String(body))"
        }
        func encode(_ frame: String, into output: inout ByteOutput) throws {}
    }

    @Test("marks, findings and the state of the codec beneath are kept")
    func codecBeneath() throws {
        var decoder = Marking().resynchronizing()
        var input = ByteInput([0xFF, 2, 0x61, 0x62, 0xFF, 0, 0xFF, 1])
        #expect(try decoder.decode(from: &input) == "1 ab")
        #expect(!input.isStopped)
        #expect(try decoder.decode(from: &input) == "2 ")
        #expect(input.isStopped)
        #expect(input.count == 2)
        let findings = input.takeFindings()
        #expect(findings.filter { $0.kind == .skippedBytes }.map(\.byteCount) == [1, 1])
        #expect(findings.filter { $0.kind != .skippedBytes }.map(\.byteCount) == [2, 0])
    }
}
