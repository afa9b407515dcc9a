import LifelineCore
import LifelineTesting

#if canImport(Glibc)
    import Glibc
#elseif canImport(Darwin)
    import Darwin
#endif

/// One way of decoding a stream; throws what is wrong with it.
typealias Check = @Sendable (_ stream: [UInt8], _ cuts: [Int]) throws(CodecFault) -> Void

/// The decoder that `LIFELINE_FUZZ` names, in all its settings.
private let checks: [Check] = {
    let name = getenv("LIFELINE_FUZZ").map { String(cString: $0) } ?? ""
    if let checks = decoders[name] { return checks() }
    print("LIFELINE_FUZZ has to be one of: \(decoders.keys.sorted().joined(separator: " "))")
    exit(2)
}()

/// libFuzzer calls this with each input, which is the stream. Its last bytes are also the sizes of the reads, so that the fuzzer
/// chooses them and a seed is a readable file all the same.
@_cdecl("LLVMFuzzerTestOneInput")
public func testOneInput(_ start: UnsafePointer<UInt8>?, _ count: Int) -> CInt {
    let stream = Array(UnsafeBufferPointer(start: start, count: count))
    let sizes = stream.suffix(4).map { 1 + Int($0) % 32 }
    var cuts: [Int] = []
    var position = 0
    while !sizes.isEmpty, position < count {
        position += sizes[cuts.count % sizes.count]
        cuts.append(position)
    }
    do throws(CodecFault) {
        for check in checks { try check(stream, cuts) }
        // The dear way for one of the settings, which the fuzzer chooses, too.
        try checks[Int(stream.last ?? 0) % checks.count](stream, Array(0..<count))
    } catch {
        print(error)
        fflush(nil)
        abort()
    }
    return 0
}

/// What a verifier checks of any stream, with a limit that inputs reach.
///
/// - Parameter message: any; the fuzzer makes the bytes, and messages are never encoded.
func check<C: Codec>(
    _ codec: C, _ message: C.Outgoing, headroom: Int = 32, rest: CodecVerifier<C>.Rest = .isTruncated, isRepeatable: Bool = true
) -> Check where C.Message == C.Outgoing, C.Message: Equatable {
    var verifier = CodecVerifier(codec, messages: [])
    verifier.rest = rest
    verifier.isRepeatable = isRepeatable
    verifier.limit = .init(limit, larger: nil, headroom: headroom) { _ in message }
    return { [verifier] stream, cuts throws(CodecFault) in try verifier.check(stream: stream, cuts: cuts) }
}

/// The limit of every codec here.
let limit = 40
