import CLifelineBench
import Glibc
import Lifeline
import LifelineCore

/// A codec, a stream of its frames, and the work on it that is measured: as a connection does it, in reads of 64 KiB.
struct CodecCase {
    let name: String
    /// Bytes of the stream, and the frames in it.
    let bytes: Int
    let frames: Int
    /// Takes the whole stream apart; gives the number of frames.
    let decode: () throws -> Int
    /// Puts the whole stream together; gives the number of bytes.
    let encode: () throws -> Int

    static let readSize = 64 * 1024
    /// Large enough that a pass takes a while, small enough for the caches: what is measured is work, not memory.
    private static let streamSize = 1024 * 1024

    /// A stream of `messages`, again and again. The step between frames and messages is part of the work.
    init<C: Codec>(_ name: String, _ codec: C, _ messages: [C.Outgoing]) throws {
        var encoder = codec.makeEncoder()
        var output = ByteOutput()
        var frames = 0
        while output.count < Self.streamSize {
            for message in messages {
                try encoder.encode(codec.frame(for: message), into: &output)
                frames += 1
            }
        }
        let stream = output.finish()
        let storages = StorageCache()
        let count = frames
        self.name = name
        self.bytes = stream.count
        self.frames = frames
        decode = { try Self.decode(stream, codec, storages) }
        encode = { try Self.encode(messages, codec, frames: count) }
    }

    @inline(never)
    private static func decode<C: Codec>(_ stream: Bytes, _ codec: C, _ storages: StorageCache) throws -> Int {
        var decoder = codec.makeDecoder()
        var input = ByteInput()
        var queue = FrameQueue<C.Decoder.Frame>()
        var messages = 0
        try stream.withUnsafeBytes { stream in
            for start in stride(from: 0, to: stream.count, by: readSize) {
                let end = min(stream.count, start + readSize)
                input.append(UnsafeRawBufferPointer(rebasing: stream[start..<end]), using: storages)
                try decoder._drain(&input, into: &queue, upTo: .max)
                input.releaseIfEmpty()
                while let frame = queue.popFirst() {
                    try use(codec.message(from: frame))
                    messages += 1
                }
                queue.recycle()
            }
        }
        return messages
    }

    @inline(never)
    private static func encode<C: Codec>(_ messages: [C.Outgoing], _ codec: C, frames: Int) throws -> Int {
        var encoder = codec.makeEncoder()
        var output = ByteOutput()
        var bytes = 0
        var left = frames
        while left > 0 {
            for message in messages {
                try encoder.encode(codec.frame(for: message), into: &output)
                left -= 1
            }
            if output.count >= readSize {
                bytes += output.count
                let room = output.blockCount
                use(output.takeRegions().count)
                output = ByteOutput(expecting: room)
            }
        }
        return bytes + output.count
    }
}

/// Keeps the compiler from leaving out what made `value`.
@inline(never) @_optimize(none)
func use<Value>(_ value: borrowing Value) {}

/// The least that anything can do with bytes: copy them, in pieces of the same size.
struct Copying {
    private let source: Bytes
    private let target = UnsafeMutableRawBufferPointer.allocate(byteCount: CodecCase.readSize, alignment: 64)

    init(byteCount: Int) { source = Bytes(repeatElement(0x61, count: byteCount)) }

    func release() { target.deallocate() }

    @inline(never)
    func pass() -> Int {
        source.withUnsafeBytes { source in
            for start in stride(from: 0, to: source.count, by: target.count) {
                let size = min(target.count, source.count - start)
                memcpy(target.baseAddress!, source.baseAddress! + start, size)
                use(target[size - 1])
            }
            return source.count
        }
    }
}
