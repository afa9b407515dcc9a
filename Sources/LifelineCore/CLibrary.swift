// The only file of this floor that imports anything: three searches and comparisons that the C library does with vector instructions.
#if canImport(Darwin)
    import Darwin
#elseif canImport(Musl)
    import Musl
#else
    import Glibc
#endif

/// The offset of the first `byte` among `count` bytes at `start`.
@usableFromInline
func firstOffset(of byte: UInt8, in start: UnsafeRawPointer, count: Int) -> Int? {
    guard count > 0, let found = memchr(start, Int32(byte), count) else { return nil }
    return UnsafeRawPointer(found) - start
}

/// Whether `count` bytes are the same at both places.
@usableFromInline
func equalBytes(_ left: UnsafeRawPointer, _ right: UnsafeRawPointer, count: Int) -> Bool {
    count == 0 || memcmp(left, right, count) == 0
}
