import LifelineCore
import LifelineTesting
import Testing

/// The verifier finds what is wrong, says which rule it is, and shows little.
@Suite("The codec verifier")
struct CodecVerifierTests {
    static func body(_ count: Int) -> Bytes { Bytes(repeatElement(0x78, count: count)) }

    /// What a verifier complains about.
    private func complaint<C: Codec>(_ verifier: CodecVerifier<C>) -> CodecFault? {
        do throws(CodecFault) {
            try verifier.run()
            return nil
        } catch {
            return error
        }
    }

    private func reader(_ kind: BrokenLengthCodec.Fault, seed: UInt64 = 1) -> CodecVerifier<BrokenLengthCodec> {
        var verifier = CodecVerifier(BrokenLengthCodec(fault: kind), messages: [[], [7], [1, 2, 3], Self.body(12)])
        verifier.limit = .init(20, larger: BrokenLengthCodec(fault: kind, max: 250), isAnnounced: true, headroom: 1, message: Self.body)
        verifier.seed = seed
        return verifier
    }

    private func line(_ kind: BrokenLineCodec.Fault) -> CodecVerifier<BrokenLineCodec> {
        var verifier = CodecVerifier(BrokenLineCodec(kind), messages: ["", "ab", "grüße"])
        verifier.limit = .init(40, larger: BrokenLineCodec(kind, max: 1000), headroom: 2) { String(repeating: "x", count: $0) }
        verifier.unsendable = ["a\r\nb"]
        return verifier
    }

    @Test("passes codecs without a fault")
    func passes() throws {
        try reader(.none).run()
        try line(.none).run()
    }

    @Test(
        "finds faults of readers in few bytes",
        arguments: [
            (.losesHeaderAtCut, .cutting, 2), (.readsTooMuch, .roundTrip, 2), (.endsCleanly, .truncation, 1),
            (.endsCleanlyAndLies, .truncation, 1), (.waitsForHugePayload, .limit, 1), (.waitsForTheLimit, .limit, 1),
            (.refusesTheLimit, .limit, 21), (.allowsOneMore, .limit, 1), (.neverTakesEmptyFrames, .work, 1), (.neverFinishes, .work, 0),
            (.forgetsItsError, .error, 1), (.waitsBehindItsError, .error, 1), (.countsTooMuch, .pending, 1),
            (.overlooksTheHeader, .truncation, 1), (.needsTheNextFrame, .roundTrip, 1), (.reportsEachRead, .cutting, 2),
        ] as [(BrokenLengthCodec.Fault, CodecFault.Rule, Int)])
    func readers(kind: BrokenLengthCodec.Fault, rule: CodecFault.Rule, size: Int) throws {
        let fault = try #require(complaint(reader(kind)))
        #expect(fault.rule == rule, "\(fault)")
        #expect(fault.reads.joined().count == size, "\(fault)")
        #expect(fault.reads.count <= 2, "\(fault)")
    }

    @Test("finds every fault of a reader with each seed", arguments: BrokenLengthCodec.Fault.allCases.dropFirst())
    func readersWithSeeds(kind: BrokenLengthCodec.Fault) {
        for seed in 2...4 as ClosedRange<UInt64> { #expect(complaint(reader(kind, seed: seed)) != nil) }
    }

    @Test(
        "finds faults of writers",
        arguments: [
            (.countsFrames, .stateless), (.writesBeforeItThrows, .encoding), (.knowsNoLimit, .encoding),
            (.overwritesTheOutput, .encoding), (.countsWrong, .roundTrip),
        ] as [(BrokenEncoder.Fault, CodecFault.Rule)])
    func writers(kind: BrokenEncoder.Fault, rule: CodecFault.Rule) throws {
        var verifier = CodecVerifier(BrokenEncoder(fault: kind), messages: [[], [7], [1, 2, 3]])
        verifier.limit = .init(20, larger: nil, message: Self.body)
        let fault = try #require(complaint(verifier))
        #expect(fault.rule == rule, "\(fault)")
    }

    @Test("finds an encoder that a refused message has changed")
    func refusalChangesState() throws {
        var verifier = CodecVerifier(BrokenCountingEncoder(), messages: [1])
        try verifier.run()
        verifier.unsendable = [10]
        let fault = try #require(complaint(verifier))
        #expect(fault.rule == .encoding, "\(fault)")
        #expect(fault.origin == "encoding 10, 1", "\(fault)")
    }

    @Test("C03: finds a terminator that is seen within one read only")
    func terminatorCut() throws {
        let fault = try #require(complaint(line(.findsTerminatorsInOneReadOnly)))
        #expect(fault.reads == [[0x0D], [0x0A]], "\(fault)")
    }

    @Test("finds a search that begins again with each read, without a clock")
    func searchesAgain() throws {
        let fault = try #require(complaint(line(.searchesAgain)))
        #expect(fault.rule == .rescan, "\(fault)")
    }

    @Test("C07: finds a line that grows without end")
    func growsWithoutEnd() throws {
        let fault = try #require(complaint(line(.growsWithoutEnd)))
        #expect(fault.rule == .limit || fault.rule == .memory, "\(fault)")
        #expect(fault.reads.joined().count <= 43, "\(fault)")
    }

    @Test("C16: finds a length counted in characters")
    func countsCharacters() throws {
        let fault = try #require(complaint(CodecVerifier(CharacterCountingCodec(), messages: ["abc", "ü"])))
        #expect(fault.rule == .roundTrip, "\(fault)")
        #expect(fault.reads == [[0x01, 0xC3, 0xBC]], "\(fault)")
    }

    @Test("finds what is lost in the step between frames and messages")
    func lossyMessages() throws {
        let fault = try #require(complaint(CodecVerifier(LossyMessages(), messages: ["a", "a,b"])))
        #expect(fault.rule == .roundTrip, "\(fault)")
        #expect(fault.reads == [[0x61, 0x2C, 0x62, 0x0A]], "\(fault)")
    }

    @Test("finds by random bytes alone what no message shows")
    func hostileBytes() throws {
        var verifier = CodecVerifier(BrokenLengthCodec(fault: .forgetsItsError), messages: [[1, 2, 3]])
        verifier.rounds = 5
        let fault = try #require(complaint(verifier))
        #expect(fault.rule == .error, "\(fault)")
        #expect(fault.reads.joined().count <= 2, "\(fault)")
        #expect(fault.origin.hasPrefix("seed 1, round 0"), "\(fault)")
    }

    @Test("checks one given stream")
    func givenStream() throws {
        let verifier = CodecVerifier(BrokenLengthCodec(fault: .losesHeaderAtCut), messages: [])
        try verifier.check(stream: [3, 1, 2, 3, 0], cuts: [-1, 0, 4, 5, 9])
        do {
            try verifier.check(stream: [3, 1, 2, 3, 0], cuts: [2, 2])
            Issue.record("nothing was found")
        } catch {
            #expect(error.rule == .cutting, "\(error)")
            #expect(error.reads.joined().count == 2, "\(error)")
        }
    }

    @Test("the same seed finds the same")
    func replays() {
        for kind in [BrokenLengthCodec.Fault.forgetsItsError, .reportsEachRead] {
            #expect(complaint(reader(kind, seed: 9))?.description == complaint(reader(kind, seed: 9))?.description)
        }
    }

    @Test("a fault's description is complete")
    func description() throws {
        let fault = try #require(complaint(line(.findsTerminatorsInOneReadOnly)))
        #expect(
            fault.description == """
                BrokenLineCodec breaks a rule: cuts change nothing
                  expected: 1 frame (""), nothing pending, as in one read
                  seen:     no frame, then truncated frame: the peer's stream ended inside a frame: 2 bytes
                  found in: messages 0: ""
                  input:    2 bytes in 2 reads, then the end
                    0000  0d|0a                                            ··
                  to paste: [[0x0d], [0x0a]]
                """)
    }
}
