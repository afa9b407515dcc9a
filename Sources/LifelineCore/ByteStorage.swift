/// The number of bytes that a storage may hold and how many of them are written.
@usableFromInline
struct StorageHeader {
    @usableFromInline var capacity: Int
    @usableFromInline var count: Int

    @inlinable
    init(capacity: Int) {
        self.capacity = capacity
        self.count = 0
    }
}

/// A block of bytes that slices share.
///
/// `ManagedBuffer` says that it isn't Sendable, so the values that hold one say that they are, on this proof:
/// a byte below ``filled`` is never written again, and slices reach only those. Bytes at and above it, and the header itself, belong to the
/// one value that appends (a `ByteInput` on its event loop, or a `ByteOutput`, which is noncopyable). A second appender after a copy finds
/// ``filled`` moved and takes a block of its own. A block to which one value alone refers may be filled anew.
@usableFromInline
final class ByteStorage: ManagedBuffer<StorageHeader, UInt8> {
    @inlinable
    static func make(capacity: Int) -> ByteStorage {
        let storage = ByteStorage.create(minimumCapacity: capacity) { _ in StorageHeader(capacity: capacity) }
        return unsafeDowncast(storage, to: ByteStorage.self)
    }

    /// How many bytes have room. (Not through `header`: the runtime watches each access to that.)
    @inlinable
    var size: Int { withUnsafeMutablePointerToHeader { $0.pointee.capacity } }

    /// How many bytes are written.
    @inlinable
    var filled: Int {
        get { withUnsafeMutablePointerToHeader { $0.pointee.count } }
        set { withUnsafeMutablePointerToHeader { $0.pointee.count = newValue } }
    }

    @inlinable
    var base: UnsafeMutableRawPointer {
        UnsafeMutableRawPointer(withUnsafeMutablePointerToElements { $0 })
    }
}
