import Foundation
import Testing

/// `lifeline decode` on captured streams with planted faults: what it shows, and where it says that it stands.
@Suite(.timeLimit(.minutes(5)))
struct DecodingTests {
    @Test func linesGoOnBehindEachFault() async throws {
        let stream = Data("one\r\n\n".utf8) + [0x67, 0x72, 0xFC, 0x6E, 0x0A] + Data("l234567890\r\nok\ngr\u{FC}n\nrest".utf8)
        let outcome = try await decode(stream, "line", ["--max", "8"])
        #expect(
            outcome.lines == [
                "0+5               one",
                "5+1               ",
                "6+5               <67 72 fc 6e>",
                "6+5             ! invalid encoding: a body of 4 bytes isn't UTF-8",
                "11+12           ! dropped frame: 10 bytes",
                "23+3              ok",
                "26+6              grün",
                "32+4            ! truncated frame: 4 bytes without a terminator",
            ])
        #expect(outcome.status == 1)
        #expect(outcome.errors == ["5 frames, 36 bytes, 3 faults"])
    }

    @Test func aRunOfDroppedLinesIsToldLineByLine() async throws {
        // More than one read, so that dropped lines lie across its border, and the search doesn't grow with their number.
        let stream = Data(String(repeating: "12345\r\n", count: 40_000).utf8) + Data("ok\n".utf8)
        let outcome = try await decode(stream, "line", ["--max", "2"])
        #expect(outcome.lines.count == 40_001)
        for (number, line) in outcome.lines.dropLast().enumerated() where !line.hasPrefix("\(number * 7)+7 ") {
            Issue.record("line \(number): \(line)")
            break
        }
        #expect(outcome.lines.last == "280000+3          ok")
        #expect(outcome.errors == ["1 frame, 280003 bytes, 40000 faults"])
    }

    @Test func linesThatAreNotJSON() async throws {
        let outcome = try await decode(Data("{\"a\":1}\n{\"a\":\n[2]\n".utf8), "json-line")
        #expect(
            outcome.lines == [
                #"0+8               {"a":1}"#,
                #"8+6               {"a":"#,
                "8+6             ! invalid body: a body of 5 bytes isn't JSON",
                "14+4              [2]",
            ])
        #expect(outcome.status == 1)
    }

    @Test(arguments: [
        ("line:crlf/lf", "a\nb\r\nc\r\n", ["0+5               a\\nb", "5+3               c"]),
        ("crlf", "a\r\n", ["0+3               a"]),
        ("delimiter:\\x00--\\n", "a\0--\n\0--\n", ["0+5               a", "5+4               "]),
        ("netstring", "5:hello,0:,", ["0+8               hello", "8+3               "]),
        ("fixed:3", "abcdef", ["0+3               abc", "3+3               def"]),
        ("length:varint", "\u{2}ab\u{0}", ["0+3               ab", "3+1               "]),
        ("length:2le:itself", "\u{4}\0ab", ["0+4               ab"]),
        ("length:1:offset=1:trailing=1:keep", "x\u{2}yab", ["0+5               x\\u{2}yab"]),
        ("length:1:whole:offset=1", "x\u{4}ab", ["0+4               ab"]),
        ("length:1:adjust=-1", "\u{3}ab", ["0+3               ab"]),
        ("prefixed:2be", "\0\u{3}a\\\t", ["0+5               a\\\\\\t"]),
        ("tlv:2:1", "\u{1}\u{2}\u{1}a", ["0+4               [258] a"]),
        ("tlv:1:varint", "\u{7}\u{1}a", ["0+3               [7] a"]),
        (
            "json-header", "{\"size\":\"2\",\"type\":\"x\"}\r\nhi{\"size\":0}\r\n",
            [#"0+27              [{"type":"x"}] hi"#, "27+12             [] "]
        ),
        ("raw", "anything", ["0+8               anything"]),
    ])
    func cleanStreams(codec: String, stream: String, lines: [String]) async throws {
        let outcome = try await decode(Data(stream.utf8), codec)
        #expect(outcome.lines == lines)
        #expect(outcome.status == 0)
        #expect(outcome.errors == ["\(lines.count) frame\(lines.count == 1 ? "" : "s"), \(stream.utf8.count) bytes, 0 faults"])
    }

    @Test(
        arguments: [
            ("length:4be", [0, 0, 0, 2, 0x6F, 0x6B, 0, 0, 0, 10, 1, 2, 3, 4, 5, 6], ["6+10            ! truncated frame: 6 of 10 bytes"]),
            ("length:4be", [0, 0, 0, 2, 0x6F, 0x6B, 0, 0], ["6+2             ! truncated frame: 2 of 4 bytes of the header"]),
            (
                "length:4be", [0, 0, 0, 2, 0x6F, 0x6B, 0x7F, 0xFF, 0xFF, 0xFF, 1, 2],
                [
                    "6+4             ! frame too large: a frame of 2147483647 bytes exceeds the limit of 1048576",
                    "6+6             ! not decoded",
                ]
            ),
            ("fixed:2", [0x6F, 0x6B, 0x21], ["2+1             ! truncated frame: 1 of 2 bytes"]),
            (
                "prefixed:1", [2, 0x6F, 0x6B, 2, 0xC3, 0x28, 1],
                [
                    "3+3               <c3 28>", "3+3             ! invalid encoding: a body of 2 bytes isn't UTF-8",
                    "6+1             ! truncated frame: 0 of 1 byte",
                ]
            ),
            (
                "netstring", Array("2:ok,5;x".utf8),
                [
                    "5+2             ! protocol violation: byte 59 where a digit or a colon of a netstring should be",
                    "5+3             ! not decoded",
                ]
            ),
            (
                "tlv:1:2le", [9, 2, 0, 0x6F, 0x6B, 1, 5, 0, 0x61],
                ["5+4             ! truncated frame: 1 of 5 bytes"]
            ),
            (
                "json-header", Array("{\"size\":\"2\"}\r\nok{\"length\":1}\r\nx".utf8),
                ["16+14           ! protocol violation: a header of 12 bytes without a size", "16+15           ! not decoded"]
            ),
        ] as [(String, [UInt8], [String])])
    func faultsBehindAGoodFrame(codec: String, stream: [UInt8], faults: [String]) async throws {
        let outcome = try await decode(Data(stream), codec)
        #expect(outcome.lines.first?.hasSuffix(" ok") == true, "\(outcome.lines)")
        #expect(Array(outcome.lines.dropFirst()) == faults)
        #expect(outcome.status == 1)
    }

    @Test func packetsAreFoundAgainBehindGarbage() async throws {
        let one = packet(3, 1, "one"), two = packet(4, -1, "two")
        let stream = Data("garbage".utf8) + one + Data([1, 0, 0]) + two + Data([1, 0, 0, 0, 9, 0, 0])
        let outcome = try await decode(stream, "type-header")
        #expect(
            outcome.lines == [
                "0+7             ! skipped bytes: 7 bytes",
                "7+19              [3/1] one",
                "26+3            ! skipped bytes: 3 bytes",
                "29+19             [4] two",
                "48+7            ! truncated frame: 7 of 16 bytes of the header",
            ])
        #expect(outcome.status == 1)
        let stopped = try await decode(stream, "type-header", ["--skip", "5"])
        #expect(
            stopped.lines == [
                "0+5             ! skipped bytes: 5 bytes",
                "5+16            ! protocol violation: 6 bytes without a frame among them, where 5 may be skipped",
                "5+50            ! not decoded",
            ])
        #expect(stopped.errors == ["0 frames, 55 bytes, 2 faults; not decoded from 5 on"])
    }

    @Test func garbageAcrossReadsIsOneFault() async throws {
        let outcome = try await decode(Data(repeating: 0xA5, count: 200_000) + packet(1, 2, ""), "type-header", ["--skip", "1000000"])
        #expect(outcome.lines == ["0+200000        ! skipped bytes: 200000 bytes", "200000+16         [1/2] "])
    }

    @Test func requestsInEitherOrder() async throws {
        let big = try await decode(Data([0, 0, 0, 18, 0, 0, 0, 7, 0, 0, 0, 2, 0xFF, 0xFF, 0xFF, 0xFF, 0x6F, 0x6B]), "request-header:be")
        #expect(big.lines == ["0+18              [serial=7 command=2 code=-1] ok"])
        let little = try await decode(Data([2, 0, 0, 0, 7, 0, 0, 0, 2, 0, 0, 0, 0, 0, 0, 0, 0x6F, 0x6B]), "request-header:le:body")
        #expect(little.lines == ["0+18              [serial=7 command=2 code=0] ok"])
        let short = try await decode(Data([0, 0, 0, 15, 1]), "request-header")
        #expect(
            short.lines == [
                "0+4             ! protocol violation: a length of 15, which has to be at least 16", "0+5             ! not decoded",
            ])
    }

    @Test func bodiesAreCutOrInHexadecimal() async throws {
        let long = Data(String(repeating: "x", count: 300).utf8) + [0x0A] + Data(repeating: 0xFF, count: 60) + [0x0A]
        let cut = try await decode(long, "delimiter:\\n")
        #expect(
            cut.lines == [
                "0+301             " + String(repeating: "x", count: 100) + "… (300 bytes)",
                "301+61            <" + Array(repeating: "ff", count: 40).joined(separator: " ") + "…> (60 bytes)",
            ])
        #expect(cut.status == 0)
        let full = try await decode(long, "delimiter:\\n", ["--full"])
        #expect(full.lines.first == "0+301             " + String(repeating: "x", count: 300))
        let digits = try await decode(Data("ok\n\u{1B}\u{202E}\n".utf8), "line")
        #expect(digits.lines == ["0+3               ok", "3+5               \\u{1b}\\u{202e}"])
        #expect(try await decode(Data("ok\n".utf8), "line", ["--hex"]).lines == ["0+3               <6f 6b>"])
    }

    @Test func aFrameOfManyReads() async throws {
        let size = 900_000
        let stream = Data([0, 0x0D, 0xBB, 0xA0]) + Data(repeating: 0x61, count: size) + Data([0, 0, 0, 1, 0x62])
        let outcome = try await decode(stream, "length:4be")
        #expect(outcome.lines.map { $0.prefix(12) } == ["0+900004    ", "900004+5    "])
        #expect(outcome.status == 0)
    }

    @Test func nothingIsClean() async throws {
        let outcome = try await decode(Data(), "netstring")
        #expect(outcome.lines == [])
        #expect(outcome.errors == ["0 frames, 0 bytes, 0 faults"])
        #expect(outcome.status == 0)
    }

    @Test func standardInputIsReadToo() async throws {
        let outcome = try await ToolProcess.run([], script: "printf '2:hi,' | \"$0\" decode --codec netstring -")
        #expect(outcome.text == "0+5               hi\n")
    }

    @Test func whatConnectHasRecorded() async throws {
        let (server, endpoint) = try await serve(["--echo", "--codec", "netstring"])
        let outcome = try await ToolProcess.run(
            [], script: "printf '3:one,0:,5:t,w:o,' | \"$0\" connect --codec raw \(endpoint) | \"$0\" decode --codec netstring -")
        #expect(outcome.text == "0+6               one\n6+3               \n9+8               t,w:o\n")
        #expect(outcome.errors == ["3 frames, 17 bytes, 0 faults"])
        try await stop(server)
    }

    @Test func whatCantBeReadIsAFailure() async throws {
        let outcome = try await ToolProcess.run(["decode", "/nowhere/at/all"])
        #expect(outcome.status == 1)
        #expect(outcome.errors.count == 1)
        #expect(outcome.errors.first?.hasPrefix("lifeline: system: opening /nowhere/at/all failed: ") == true, "\(outcome.errors)")
        let directory = try await ToolProcess.run(["decode", "/"])
        #expect(directory.status == 1)
        #expect(directory.errors.first?.hasPrefix("lifeline: system: / can't be read") == true, "\(directory.errors)")
    }

    private func packet(_ main: Int32, _ sub: Int32, _ body: String) -> Data {
        var packet = Data()
        for number in [1, main, sub, Int32(body.utf8.count)] { withUnsafeBytes(of: number.littleEndian) { packet.append(contentsOf: $0) } }
        return packet + Data(body.utf8)
    }

    private func decode(_ stream: Data, _ codec: String, _ options: [String] = []) async throws -> ToolProcess.Outcome {
        let file = FileManager.default.temporaryDirectory.appendingPathComponent("lifeline-\(UUID().uuidString)")
        defer { try? FileManager.default.removeItem(at: file) }
        try stream.write(to: file)
        return try await ToolProcess.run(["decode", "--codec", codec] + options + [file.path])
    }
}

extension ToolProcess.Outcome {
    /// The lines of standard output.
    fileprivate var lines: [String] { text.split(separator: "\n", omittingEmptySubsequences: false).dropLast().map(String.init) }
}
