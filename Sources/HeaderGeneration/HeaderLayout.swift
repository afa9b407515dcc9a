/// Where the fields of a struct stand, as the C ABI of 64-bit Linux and Darwin has it.
package struct HeaderLayout: Sendable, Equatable {
    /// The most bytes that a header has.
    package static let limit = 65535

    /// The first byte of each field.
    package var offsets: [Int] = []
    /// All bytes, with the padding at the end.
    package var size = 0

    /// Each field stands at the next multiple of its element's size, or of `packing` if that is less, and the whole is a multiple of the
    /// largest of these.
    init(of fields: [CField], packing: Int?) throws(HeaderError) {
        var largest = 1
        for field in fields {
            let alignment = min(field.type.size, packing ?? field.type.size)
            largest = max(largest, alignment)
            size = Self.align(size, to: alignment)
            offsets.append(size)
            size += field.size
            if size > Self.limit { throw HeaderError(field.position, "the header is larger than \(Self.limit) bytes") }
        }
        size = Self.align(size, to: largest)
    }

    private static func align(_ size: Int, to alignment: Int) -> Int { (size + alignment - 1) / alignment * alignment }
}
