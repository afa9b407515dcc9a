/// The order of an integer's bytes on the wire.
public enum Endianness: Sendable, Hashable {
    /// Most significant byte first ("network order").
    case big
    /// Least significant byte first.
    case little

    /// `value` with its bytes in this order; its own inverse.
    @inlinable
    func convert<Value: FixedWidthInteger>(_ value: Value) -> Value {
        switch self {
        case .big: value.bigEndian
        case .little: value.littleEndian
        }
    }
}
