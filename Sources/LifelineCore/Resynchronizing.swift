/// What happens with a frame that has a plausible header and a wrong check.
public enum RejectedFrameRule: Sendable, Hashable {
    /// Its first byte is skipped and the search goes on behind it. Nothing is lost if the header was garbage that only looked like one;
    /// but if the frame's payload holds a whole frame, as a capture or a relay's does, that inner frame is delivered.
    case searchInside
    /// All of it is skipped. An inner frame is never delivered; but if the header was garbage, good frames that stood in what it
    /// announced are skipped, too.
    case skipWhole
}

/// A codec that finds its way back: bytes at which no frame can begin are skipped one at a time until one can.
///
/// - Wire layout, frames and encoding: those of ``base``. What `base` refuses on receipt for its header - one that isn't plausible, an
///   impossible length, one above the limit - is garbage here and not an error. Headers without anything to tell them by are poor at
///   this: of a plain length prefix nearly every run of bytes is one.
/// - Each run of skipped bytes is reported once, as ``Finding/Kind/skippedBytes`` with its count: with the next plausible header, or with
///   the next whole frame if frames have a check; at the latest at the end of the stream or before the error that ends it.
/// - Skipped bytes leave memory at once, and none is looked at twice. A frame with a plausible header is waited for: without a check,
///   garbage that looks like a header costs what it announces, within the limit of `base`.
/// - A wrong check: see ``RejectedFrameRule``; ``RejectedFrameRule/searchInside`` by default.
/// - Limits: 64 KiB of skipped bytes between two frames, the ``budget``; it starts over with each frame. The bytes of frames whose check
///   failed may come to 16 times that between two frames, since each is looked at again for every such frame that it stands in.
/// - Errors on receipt: ``SocketError/Code/protocolViolation`` beyond either limit, which says how many bytes it were;
///   ``SocketError/Code/truncated`` if the stream ends with bytes left in which a frame may begin, even if all before them was garbage.
///   A stream that ends right behind skipped bytes ends cleanly.
public struct Resynchronizing<Base: HeaderedCodec>: FrameCodec {
    /// The codec of the frames.
    @inlinable public var base: Base { codec }
    /// The most bytes that may be skipped between two frames.
    public let budget: Int
    /// What happens with a frame whose check fails.
    public let rejected: RejectedFrameRule

    /// 64 KiB.
    @inlinable public static var defaultBudget: Int { 64 * 1024 }
    /// How many times the budget may be checked in vain.
    @usableFromInline static var vainFactor: Int { 16 }

    @usableFromInline var codec: Base
    /// The size of the frame that is being waited for; 0 if none is.
    @usableFromInline var awaited = 0
    /// The bytes skipped since the last frame, and how many of them were reported.
    @usableFromInline var skipped = 0
    @usableFromInline var reported = 0
    /// The bytes of frames since the last good one whose check failed.
    @usableFromInline var vain = 0

    /// `base` with a search for the next frame; see ``HeaderedCodec/resynchronizing(budget:rejected:)``.
    public init(_ base: Base, budget: Int = defaultBudget, rejected: RejectedFrameRule = .searchInside) {
        codec = base
        self.budget = Swift.max(0, Swift.min(budget, 1 << 50))
        self.rejected = rejected
    }

    /// Takes the next frame, skipping what is none; nil if more bytes are needed.
    @inlinable
    public mutating func decode(from input: inout ByteInput) throws -> Base.Frame? {
        if input.count < awaited { return nil }
        awaited = 0
        while !input.isEmpty {
            switch codec.frameStart(in: input) {
            case .incomplete:
                return nil
            case .frame(let byteCount) where byteCount > 0:
                if skipped != reported, !codec.hasCheck { reportSkipped(to: &input) }
                guard byteCount <= input.count else {
                    awaited = byteCount
                    return nil
                }
                if let frame = codec.takeFrame(of: byteCount, from: &input) {
                    if skipped | vain != 0 { startOver(&input) }
                    return frame
                }
                try reject(byteCount, from: &input)
            case .impossible, .frame:
                try search(&input)
            }
        }
        return nil
    }

    /// Skips the byte at the front, at which no frame begins, and all behind it up to the next at which one may.
    @inlinable
    mutating func search(_ input: inout ByteInput) throws(SocketError) {
        let most = Swift.min(input.count, budget &- skipped)
        // On a value of its own the loop is a few loads and comparisons for each byte.
        var window = input.window(at: 0)
        var count = 0
        while count < most {
            count &+= 1
            window.lower &+= 1
            if window.isEmpty || !isGarbage(window) { break }
        }
        skip(count, of: &input)
        if skipped == budget, !input.isEmpty, isGarbage(input) { throw overspent(1, reporting: &input) }
    }

    @inlinable
    func isGarbage(_ input: ByteInput) -> Bool {
        switch codec.frameStart(in: input) {
        case .impossible: true
        case .incomplete: false
        case .frame(let byteCount): byteCount <= 0
        }
    }

    @inlinable
    mutating func skip(_ count: Int, of input: inout ByteInput) {
        input.lower &+= count
        skipped &+= count
    }

    /// Skips the frame at the front, or its first byte.
    @usableFromInline
    mutating func reject(_ byteCount: Int, from input: inout ByteInput) throws(SocketError) {
        // The input stays as it is when this throws, so that the error stays, too.
        let count = rejected == .skipWhole ? byteCount : 1
        guard byteCount <= budget * Self.vainFactor - vain else {
            reportSkipped(to: &input)
            throw SocketError(
                .protocolViolation,
                "\(vain + byteCount) bytes of frames with a wrong check and no frame between them, where \(budget * Self.vainFactor) may be"
            )
        }
        guard count <= budget - skipped else { throw overspent(count, reporting: &input) }
        vain += byteCount
        skip(count, of: &input)
    }

    /// The error for `count` more bytes to skip.
    @usableFromInline
    mutating func overspent(_ count: Int, reporting input: inout ByteInput) -> SocketError {
        reportSkipped(to: &input)
        return SocketError(.protocolViolation, "\(skipped + count) bytes without a frame among them, where \(budget) may be skipped")
    }

    @usableFromInline
    mutating func reportSkipped(to input: inout ByteInput) {
        guard skipped > reported else { return }
        input.report(Finding(.skippedBytes, byteCount: skipped - reported))
        reported = skipped
    }

    /// A frame was found: the budget is whole again.
    @usableFromInline
    mutating func startOver(_ input: inout ByteInput) {
        reportSkipped(to: &input)
        skipped = 0
        reported = 0
        vain = 0
    }

    /// Reports what was skipped last; throws ``SocketError/Code/truncated`` if bytes are left in which a frame may begin.
    public mutating func finish(_ input: inout ByteInput) throws -> Base.Frame? {
        reportSkipped(to: &input)
        guard let pending = pending(in: input) else { return nil }
        throw SocketError(truncated: pending)
    }

    /// What ``base`` says of the frame that may have begun, and how many bytes were skipped before it: "2 of 16 bytes of the header behind
    /// 12 skipped bytes".
    public func pending(in input: ByteInput) -> PendingFrame? {
        guard let pending = codec.pending(in: input) else { return nil }
        guard skipped > 0 else { return pending }
        let behind = "behind \(skipped) skipped \(skipped == 1 ? "byte" : "bytes")"
        let note = pending.note.map { "\($0) \(behind)" } ?? behind
        return PendingFrame(received: pending.received, expected: pending.expected, note: note)
    }

    /// Appends the frame as ``base`` does; throws what it throws.
    @inlinable
    public mutating func encode(_ frame: Base.Frame, into output: inout ByteOutput) throws {
        try codec.encode(frame, into: &output)
    }

    /// As ``base`` says.
    @inlinable public static var isStateless: Bool { Base.isStateless }
}
