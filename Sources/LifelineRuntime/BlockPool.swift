package import LifelineCore

/// A loop's ``SpareBlocks``: any thread encodes into them, and the loop writes from them.
///
/// The proof behind `@unchecked`: `spares` is guarded by `lock`.
package final class BlockPool: @unchecked Sendable {
    private let lock = Lock()
    @exclusivity(unchecked) private var spares = SpareBlocks()

    package init() {}

    /// A block for `size` bytes, a used one if there is one that fits. From any thread.
    package func block(_ size: Int) -> SpareBlock { lock.withLock { spares.take(size) } ?? SpareBlock(size: size) }

    /// Takes over the block of `run`, which was written, if that is worth it and nobody else refers to it.
    package func add(_ run: inout Bytes) {
        if SpareBlocks.suits(run) { lock.withLock { spares.add(&run) } }
    }

    /// The bytes of the kept blocks, for tests.
    package var keptBytes: Int { lock.withLock { spares.keptBytes } }
}
