/// What the bytes at one place of a stream can be.
public enum FrameStart: Sendable, Hashable {
    /// A frame can begin here. If it does it has so many bytes, header and all.
    case frame(byteCount: Int)
    /// No frame begins here: the header isn't plausible, or its length is impossible or above the limit.
    case impossible
    /// Too few bytes are there to tell.
    case incomplete
}

/// A codec whose frames begin with something that can be told from garbage. It can find the next frame in a stream that has lost its
/// borders: see ``resynchronizing(budget:rejected:)``.
///
/// ``frameStart(in:)`` is all that a codec of your own has to add; it is asked for each byte of garbage, so it should be quick.
public protocol HeaderedCodec: FrameCodec {
    /// Whether a frame can begin at the front of `input`. It isn't asked about no bytes at all.
    ///
    /// Once it isn't ``FrameStart/incomplete``, more bytes must not change the answer.
    func frameStart(in input: ByteInput) -> FrameStart

    /// Takes the frame whose `byteCount` bytes stand at the front of `input`; nil, with nothing taken, if its check fails.
    ///
    /// By default what `decode` makes of them, and nil where it throws.
    mutating func takeFrame(of byteCount: Int, from input: inout ByteInput) -> Frame?

    /// Whether a frame that has arrived whole may still be rejected, because it has a check. False unless a codec says otherwise.
    var hasCheck: Bool { get }
}

extension HeaderedCodec {
    /// What `decode` makes of the bytes; nil if it throws.
    @inlinable
    public mutating func takeFrame(of byteCount: Int, from input: inout ByteInput) -> Frame? {
        var codec = self
        var rest = input
        guard let frame = try? codec.decode(from: &rest) else { return nil }
        self = codec
        input = rest
        return frame
    }

    /// False.
    @inlinable public var hasCheck: Bool { false }

    /// This codec, with a decoder that looks for the next frame behind bytes that are none, instead of failing.
    ///
    /// - Parameters:
    ///   - budget: the most bytes that may be skipped between two frames; 64 KiB by default. A negative number is taken as 0.
    ///   - rejected: where the search goes on behind a frame whose check fails; inside it by default.
    @inlinable
    public func resynchronizing(
        budget: Int = Resynchronizing<Self>.defaultBudget, rejected: RejectedFrameRule = .searchInside
    ) -> Resynchronizing<Self> {
        Resynchronizing(self, budget: budget, rejected: rejected)
    }
}

extension ByteInput {
    /// The bytes from `offset` on as an input of their own, without findings: to look at, not to take from.
    @inlinable
    func window(at offset: Int) -> ByteInput {
        var window = ByteInput()
        window.storage = storage
        window.lower = lower &+ offset
        window.upper = upper
        return window
    }
}
