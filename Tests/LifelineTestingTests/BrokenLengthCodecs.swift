import LifelineCore

/// A byte that counts the payload, and the payload, with one fault of the reader or none.
struct BrokenLengthCodec: FrameCodec {
    enum Fault: CaseIterable {
        case none
        /// Takes the length and forgets it when the payload isn't there yet.
        case losesHeaderAtCut
        /// Takes all that is there for the payload.
        case readsTooMuch
        /// A stream that ends inside a frame is a clean end.
        case endsCleanly
        /// The same, and nothing is said to be pending.
        case endsCleanlyAndLies
        /// Compares the length with the limit when the payload is there.
        case waitsForHugePayload
        /// The same as soon as more than the limit is there.
        case waitsForTheLimit
        /// A payload of exactly the limit is refused.
        case refusesTheLimit
        /// One of one byte more is taken.
        case allowsOneMore
        /// An empty frame isn't taken from the input.
        case neverTakesEmptyFrames
        /// The end of the stream makes an empty frame, again and again.
        case neverFinishes
        /// Refuses a frame once, then goes on behind it.
        case forgetsItsError
        /// A refused frame is waited for.
        case waitsBehindItsError
        /// Says more than has arrived.
        case countsTooMuch
        /// Says that nothing is pending until the header is followed by something.
        case overlooksTheHeader
        /// A payload comes only when another frame follows.
        case needsTheNextFrame
        /// Reports what it waits for with each read.
        case reportsEachRead
    }

    struct Refused: Error {}

    var fault: Fault
    var max = 20

    mutating func decode(from input: inout ByteInput) throws -> Bytes? {
        if fault == .losesHeaderAtCut {
            guard let length: UInt8 = input.read() else { return nil }
            if length > max { throw Refused() }
            return input.read(Int(length))
        }
        guard let first: UInt8 = input.peek() else { return nil }
        let length = Int(first)
        let isThere = input.count > length
        switch fault {
        case .waitsForHugePayload where !isThere: break
        case .waitsForTheLimit where input.count <= max + 1: break
        case .refusesTheLimit where length == max: throw Refused()
        case .allowsOneMore where length == max + 1: break
        case .forgetsItsError where length > max:
            input.skip(1)
            throw Refused()
        case .waitsBehindItsError where length > max:
            input.skip(input.count)
            throw Refused()
        default: if length > max { throw Refused() }
        }
        if !isThere {
            if fault == .reportsEachRead { input.report(Finding(.skippedBytes, byteCount: input.count)) }
            return nil
        }
        if fault == .needsTheNextFrame, input.count == length + 1 { return nil }
        if fault == .neverTakesEmptyFrames, length == 0 { return Bytes() }
        input.skip(1)
        return input.read(fault == .readsTooMuch ? input.count : length)
    }

    mutating func finish(_ input: inout ByteInput) throws -> Bytes? {
        if fault == .neverFinishes { return Bytes() }
        if fault == .endsCleanly || fault == .endsCleanlyAndLies { return nil }
        if fault == .needsTheNextFrame, let first: UInt8 = input.peek(), input.count == Int(first) + 1 {
            input.skip(1)
            return input.read(Int(first))
        }
        if let pending = pending(in: input) { throw SocketError(truncated: pending) }
        return nil
    }

    func pending(in input: ByteInput) -> PendingFrame? {
        if input.isEmpty || fault == .endsCleanlyAndLies || fault == .overlooksTheHeader && input.count == 1 { return nil }
        return PendingFrame(received: input.count + (fault == .countsTooMuch ? 1 : 0))
    }

    func encode(_ frame: Bytes, into output: inout ByteOutput) throws {
        if frame.count > max { throw Refused() }
        output.append(UInt8(frame.count))
        output.append(frame)
    }

    static var isStateless: Bool { true }
}

/// The same, with one fault of the writer.
struct BrokenEncoder: FrameCodec {
    enum Fault: CaseIterable {
        /// Counts the frames that it has sent in the top bits of the length.
        case countsFrames
        /// Writes the length, then looks at the payload.
        case writesBeforeItThrows
        /// Sends what is above the limit.
        case knowsNoLimit
        /// Writes the length over the first byte of the output.
        case overwritesTheOutput
        /// Doesn't count the last byte.
        case countsWrong
    }

    var fault: Fault
    var max = 20
    var sent: UInt8 = 0

    func decode(from input: inout ByteInput) throws -> Bytes? {
        guard let first: UInt8 = input.peek() else { return nil }
        let length = Int(first & 0x1F)
        guard input.count > length else { return nil }
        input.skip(1)
        return input.read(length)
    }

    mutating func encode(_ frame: Bytes, into output: inout ByteOutput) throws {
        let position = output.count
        if fault == .writesBeforeItThrows { output.append(UInt8(frame.count)) }
        if fault == .countsFrames { sent &+= 0x20 }
        if frame.count > max, fault != .knowsNoLimit { throw BrokenLengthCodec.Refused() }
        if fault == .writesBeforeItThrows {
            output.append(frame)
            return
        }
        output.append(0 as UInt8)
        let length = UInt8(frame.count) & 0x1F | sent
        try output.overwrite(
            at: fault == .overwritesTheOutput ? 0 : position, with: fault == .countsWrong && length > 0 ? length - 1 : length, .big)
        output.append(frame)
    }

    static var isStateless: Bool { true }
}

/// Keeps a number between frames, as it may, and also when it refuses one, as it may not.
struct BrokenCountingEncoder: FrameCodec {
    var sent: UInt8 = 0

    mutating func decode(from input: inout ByteInput) -> UInt8? {
        guard input.count >= 2, let value: UInt8 = input.peek(at: 1) else { return nil }
        input.skip(2)
        return value
    }

    mutating func encode(_ frame: UInt8, into output: inout ByteOutput) throws {
        sent += 1
        if frame > 9 { throw BrokenLengthCodec.Refused() }
        output.append(sent)
        output.append(frame)
    }
}
