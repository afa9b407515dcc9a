public import LifelineCore

/// Asked when a read's time limit runs out: given the time since the read began and the bytes that have come for it, how much longer it
/// may take; nil lets it end with its error. Called on the event loop, so it must be quick.
public typealias ReadExtension = @Sendable (_ elapsed: Duration, _ received: Int) -> Duration?

extension ByteStream {
    /// Reads at least one byte and at most `count`: what is there, waiting for the first. Nil after a clean end.
    ///
    /// - Throws: ``SocketError/Code/timedOut`` (phase `read`) at the limit, `CancellationError`, or the error that ended the stream.
    public func read(atMost count: Int, within limit: Duration? = nil) async throws -> Bytes? {
        try await read(decoding: PortionDecoder(maximum: max(1, count)), within: limit, extending: nil)
    }

    /// Reads exactly `count` bytes. Nil if the stream has ended cleanly before the first of them.
    ///
    /// - Parameters:
    ///   - limit: the time that it may take; nil for as long as the stream lives.
    ///   - extending: asked at the limit for more time.
    /// - Throws: ``SocketError/Code/truncated`` if the stream ends in the middle; ``SocketError/Code/timedOut`` (phase `read`) at the
    ///   limit, with the bytes left for the next read; `CancellationError`, with the same; the error that ended the stream.
    public func read(exactly count: Int, within limit: Duration? = nil, extending: ReadExtension? = nil) async throws -> Bytes? {
        guard count >= 0 else { throw SocketError(.misuse, "can't read \(count) bytes") }
        return try await read(decoding: ExactDecoder(length: count), within: limit, extending: extending)
    }

    /// Reads up to and including `delimiter`, and returns what stands before it. Nil if the stream has ended cleanly before the first
    /// byte.
    ///
    /// - Parameter maximum: how many bytes may stand before the delimiter.
    /// - Throws: ``SocketError/Code/frameTooLarge`` if there are more, with the bytes left for the next read; otherwise as
    ///   ``read(exactly:within:extending:)``.
    public func read(
        until delimiter: Bytes, limit maximum: Int, within limit: Duration? = nil, extending: ReadExtension? = nil
    ) async throws -> Bytes? {
        guard !delimiter.isEmpty else { throw SocketError(.misuse, "the delimiter is empty") }
        return try await read(decoding: UntilDecoder(delimiter: delimiter, maximum: maximum), within: limit, extending: extending)
    }

    /// Reads one frame of `codec` and not a byte more. Nil if the stream has ended cleanly before it.
    ///
    /// Bytes that the codec passes over, such as those of a line that it drops, stay until there is a frame: more of them than the inbox's
    /// high mark are ``SocketError/Code/frameTooLarge``.
    /// - Throws: what the decoder throws, with the bytes left for the next read; what the codec's ``Codec/message(from:)`` throws, with
    ///   the frame taken; otherwise as ``read(exactly:within:extending:)``.
    public nonisolated(nonsending) func read<C: Codec>(
        with codec: C, within limit: Duration? = nil, extending: ReadExtension? = nil
    ) async throws -> C.Message? {
        guard let frame = try await readFrame(with: codec, within: limit, extending: extending) else { return nil }
        do {
            return try codec.message(from: frame)
        } catch {
            throw SocketError(decoding: error)
        }
    }

    private func readFrame<C: Codec>(
        with codec: C, within limit: Duration?, extending: ReadExtension?
    ) async throws -> C.Decoder.Frame? {
        try await read(decoding: codec.makeDecoder(), within: limit, extending: extending)
    }

    /// Writes one frame of `codec`.
    ///
    /// - Throws: what the encoder throws; otherwise as ``write(_:within:)``.
    public nonisolated(nonsending) func write<C: Codec>(
        _ message: C.Outgoing, with codec: C, within limit: Duration? = nil
    ) async throws {
        var output = ByteOutput()
        var encoder = codec.makeEncoder()
        do {
            try encoder.encode(codec.frame(for: message), into: &output)
        } catch {
            throw SocketError(encoding: error)
        }
        try await write(output.finish(), within: limit)
    }

    /// How far the read that waits has come; nil if none waits.
    public var readProgress: PendingFrame? { pendingRead?.progress(in: core.input) }

    /// Bytes that have arrived and were not read.
    public var bytesBuffered: Int { core.input.count }

    private func read<D: FrameDecoder>(
        decoding decoder: sending D, within limit: Duration?, extending: ReadExtension?
    ) async throws -> D.Frame? {
        try checkUsable()
        if let pendingRead, !pendingRead.isDone {
            throw SocketError(.misuse, "a second read while one waits: one reader at a time")
        }
        let read = FrameRead(decoder, mostTaken: core.options.inbox.high)
        pendingRead = read
        step()
        let limiter = limit.map { ReadLimiter(read: read, core: core, limit: $0, extending: extending) }
        defer {
            limiter?.disarm()
            if pendingRead === read { pendingRead = nil }
        }
        return try await read.result.value()
    }
}

// The loop's side.
extension ByteStream: StreamOwner {
    package nonisolated func streamHasInput() {
        assumeIsolated { $0.step() }
    }

    package nonisolated func streamInputEnded(isCut: Bool) -> SocketError? {
        // What is left can still be read; the reads themselves find out what is missing. Of plain bytes nothing proves that they are all.
        isCut ? SocketError(unannouncedEndWith: nil) : nil
    }

    /// Nothing is a frame here.
    package nonisolated var unfinishedFrame: PendingFrame? { nil }

    package nonisolated func streamReadingEnded(_ reason: CloseReason) {
        end.set(reason)
        assumeIsolated { $0.step() }
    }

    /// Tries to satisfy the read that waits. Without one, reading goes on up to the high mark.
    private func step() {
        if let read = pendingRead, !read.isDone {
            read.step(&core.input, end: end.reason)
            core.input.releaseIfEmpty()
            core.reportFindings()
        }
        if let read = pendingRead, !read.isDone {
            core.resumeReading()
        } else if core.input.count >= core.options.inbox.high {
            core.pauseReading()
        } else if core.input.count <= core.options.inbox.low {
            core.resumeReading()
        }
    }
}
