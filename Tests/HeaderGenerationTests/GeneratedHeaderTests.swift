import HeaderExample
import Lifeline
import LifelineTesting
import Testing

/// What the generated headers promise, apart from their bytes.
struct GeneratedHeaderTests {
    private func read<Header: FixedHeader>(_: Header.Type, _ bytes: [UInt8]) -> Header {
        Header(from: ByteInput(Bytes(bytes)))
    }

    @Test func whatIsWrittenIsReadAgain() throws {
        let padded = try PaddedHeader(kind: 1, token: 2, sender: Bytes("bob"), levels: [3, -4, 5], tail: -6, sign: 7)
        #expect(read(PaddedHeader.self, bytes(padded)) == padded)
        let packed = try PackedHeader(digest: [1], deltas: [-128, 127], flags: 4, initial: 200)
        #expect(read(PackedHeader.self, bytes(packed)) == packed)
        let words = try WordsHeader(default: 1, input: .max, output: 3, length: 4, hasher: .min, element: [5])
        #expect(read(WordsHeader.self, bytes(words)) == words)
    }

    @Test func everyValueOfTheBytesIsTaken() throws {
        var generator = SeededGenerator(seed: 7)
        for _ in 0..<2000 {
            let random = (0..<40).map { _ in UInt8.random(in: 0...255, using: &generator) }
            check(read(PaddedHeader.self, random))
            check(read(PackedHeader.self, random))
            check(read(WordsHeader.self, random))
            check(read(OnlyLength.self, random))
            check(read(ByteLength.self, random))
            check(read(ChatHeader.self, random))
            check(read(CallHeader.self, random))
        }
    }

    private func check(_ header: some FixedHeader) {
        _ = header.isPlausible
        if let count = header.bodyCount { #expect(count >= 0) }
        #expect(bytes(header).count == type(of: header).byteCount)
    }

    @Test func lengthsThatCantBeMeantAreNil() throws {
        func call(_ length: UInt32) -> Int? {
            read(CallHeader.self, withUnsafeBytes(of: length.bigEndian) { Array($0) } + Array(repeating: 0, count: 12)).bodyCount
        }
        #expect(call(16) == 0)
        #expect(call(0x7FFF_FFFF) == 0x7FFF_FFEF)
        for length: UInt32 in [0, 15, 0x8000_0000, 0xFFFF_FFFF] { #expect(call(length) == nil) }
        #expect(read(OnlyLength.self, Array(repeating: 255, count: 8)).bodyCount == nil)
        #expect(read(OnlyLength.self, [127] + Array(repeating: 255, count: 7)).bodyCount == .max)
        #expect(read(ByteLength.self, [1, 0]).bodyCount == nil)
        #expect(read(ByteLength.self, [255, 0]).bodyCount == 253)
    }

    @Test func lengthsThatDontFitAreRefusedAndChangeNothing() throws {
        var header = ByteLength(kind: 1)
        #expect(header.bodyCount == 0, "a new header announces an empty body")
        try header.setBodyCount(253)
        for count in [254, .max, -3, .min] {
            #expect(throws: SocketError(.unencodable, "")) { try header.setBodyCount(count) }
        }
        #expect(header.bodyCount == 253)
        var call = CallHeader(serial: 1, command: 2, code: 3)
        #expect(throws: SocketError(.unencodable, "")) { try call.setBodyCount(Int(Int32.max) - 15) }
        try call.setBodyCount(Int(Int32.max) - 16)
    }

    @Test func fieldsWithTooManyElementsAreRefused() throws {
        #expect(throws: SocketError(.unencodable, "")) {
            try PaddedHeader(kind: 1, token: 2, sender: Bytes("eleven byte"), levels: [], tail: 0, sign: 0)
        }
        #expect(throws: SocketError(.unencodable, "")) {
            try PaddedHeader(kind: 1, token: 2, sender: Bytes(), levels: [1, 2, 3, 4], tail: 0, sign: 0)
        }
        var header = try PaddedHeader(kind: 1, token: 2, sender: Bytes("ten bytes!"), levels: [], tail: 0, sign: 0)
        #expect(header.levels == [0, 0, 0])
        #expect(throws: SocketError(.unencodable, "")) { try header.setLevels([1, 2, 3, 4]) }
        try header.setLevels([9])
        #expect(header.levels == [9, 0, 0])
        #expect(header.senderText == "ten bytes!", "no NUL is needed")
        try header.setSender(Bytes("ann"))
        #expect(header.sender == Bytes("ann\0\0\0\0\0\0\0"))
        #expect(header.senderText == "ann")
        try header.setSender([0xFF])
        #expect(header.senderText == nil)
        try header.setSender(Bytes())
        #expect(header.senderText?.isEmpty == true)
    }

    @Test func onlyTheNamedValuesArePlausible() throws {
        #expect(ChatHeader(mainType: 999, subType: -9).isPlausible)
        #expect(!ChatHeader(version: 2, mainType: 1, subType: 1).isPlausible)
        #expect(!ChatHeader(mainType: 1000, subType: 1).isPlausible)
        #expect(!ChatHeader(mainType: 1, subType: -10).isPlausible)
        #expect(CallHeader(serial: .min, command: .max, code: 0).isPlausible, "nothing is said of it")
        for flags: UInt32 in [2, 15] { #expect(try PackedHeader(digest: [], deltas: [], flags: flags, initial: 0).isPlausible) }
        for flags: UInt32 in [1, 16] { #expect(try !PackedHeader(digest: [], deltas: [], flags: flags, initial: 0).isPlausible) }
        #expect(try !PackedHeader(magic: Bytes("LF|2"), digest: [], deltas: [], flags: 2, initial: 0).isPlausible)
        func words(input: UInt64 = 5, output: UInt32 = 7, length: UInt8 = 199, hasher: Int32 = -5, lowest: Int64 = .min) throws -> Bool {
            try WordsHeader(
                default: 0, input: input, output: output, length: length, hasher: hasher, element: [], lowest: lowest
            ).isPlausible
        }
        #expect(try words())
        #expect(try !words(input: 4) && !words(output: 8) && !words(length: 200) && !words(hasher: -6) && !words(lowest: 0))
    }

    @Test func aGlanceAtTheBytesSaysWhatTheHeaderSays() throws {
        var generator = SeededGenerator(seed: 8)
        var plausible = 0
        func compare<Header: FixedHeader>(_: Header.Type, _ bytes: [UInt8]) {
            let header = read(Header.self, bytes)
            let expected = header.isPlausible ? header.bodyCount : nil
            #expect(Header.bodyCount(in: ByteInput(Bytes(bytes))) == expected, "\(bytes)")
            if expected != nil { plausible += 1 }
        }
        var packed = try PackedHeader(digest: [1], deltas: [-128, 127], flags: 4, initial: 200)
        try packed.setBodyCount(7)
        let words = try WordsHeader(default: 1, input: 5, output: 3, length: 4, hasher: 0, element: [5])
        let padded = try PaddedHeader(kind: 1, token: 2, sender: Bytes("bob"), levels: [3, -4, 5], tail: -6, sign: 7)
        for _ in 0..<3000 {
            // One byte of a good header is another.
            var (a, b, c) = (bytes(packed), bytes(words), bytes(padded))
            a[Int.random(in: a.indices, using: &generator)] = UInt8.random(in: 0...255, using: &generator)
            b[Int.random(in: b.indices, using: &generator)] = UInt8.random(in: 0...255, using: &generator)
            c[Int.random(in: c.indices, using: &generator)] = UInt8.random(in: 0...255, using: &generator)
            compare(PackedHeader.self, a)
            compare(WordsHeader.self, b)
            compare(PaddedHeader.self, c)
        }
        #expect((3000..<8900).contains(plausible))
    }

    @Test func headersOfFilesWhosePathsReadAlikeAreBothMade() {
        #expect(InFolder.byteCount == 2 && BesideFolder.byteCount == 4)
    }

    @Test func theLengthTakesNoPartInEquality() throws {
        var long = ChatHeader(mainType: 1, subType: 2)
        try long.setBodyCount(77)
        #expect(long == ChatHeader(mainType: 1, subType: 2))
        #expect(Set([long, ChatHeader(mainType: 1, subType: 2), ChatHeader(mainType: 1, subType: 3)]).count == 2)
        #expect(OnlyLength() == OnlyLength())
    }
}
