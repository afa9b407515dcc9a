// snippet: codec
import Lifeline

struct Reading: Sendable, Equatable {
    var sensor: UInt8
    var value: Int32
}

struct ReadingCodec: FrameCodec {
    func decode(from input: inout ByteInput) -> Reading? {
        guard input.count >= 5, let sensor: UInt8 = input.read(), let value: Int32 = input.read() else { return nil }
        return Reading(sensor: sensor, value: value)
    }

    func encode(_ reading: Reading, into output: inout ByteOutput) {
        output.append(reading.sensor)
        output.append(reading.value, .big)
    }
}
// end
