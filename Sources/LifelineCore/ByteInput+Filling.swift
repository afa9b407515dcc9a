// How the read path fills an input.
extension ByteInput {
    /// Appends a copy of what was read.
    ///
    /// With nothing left over the storage has the size of the read, or up to four times that where it comes from `cache`. An unfinished
    /// frame's storage doubles with what has arrived, so the bytes of a long frame are copied a bounded number of times, and its size never
    /// follows an announcement.
    package mutating func append(_ chunk: UnsafeRawBufferPointer, using cache: StorageCache? = nil) {
        guard let source = chunk.baseAddress, chunk.count > 0 else { return }
        let left = count
        if left == 0 {
            storage = cache?.block(chunk.count) ?? ByteStorage.make(capacity: chunk.count)
            lower = 0
            upper = 0
            slack = pinnedCount
        } else if let storage, storage.filled == upper, storage.size - upper >= chunk.count {
            // The tail of the block is this value's own.
        } else {
            let size = Swift.max(2 * left, left + chunk.count)
            let larger = cache?.block(size) ?? ByteStorage.make(capacity: size)
            larger.base.copyMemory(from: start, byteCount: left)
            larger.filled = left
            storage = larger
            lower = 0
            upper = left
            slack = larger.size - left
        }
        guard let storage else { return }
        (storage.base + upper).copyMemory(from: source, byteCount: chunk.count)
        upper += chunk.count
        slack = Swift.max(0, slack - chunk.count)
        storage.filled = upper
    }

    /// Appends `count` bytes that were read into ``StorageCache/readBuffer(behind:)`` of `cache`, which was asked with this input's ``count``.
    ///
    /// A read that fills half of its block becomes this input's storage where it stands, and only what was left over is copied, at most as
    /// much as has come. Smaller ones are copied.
    package mutating func append(read count: Int, from cache: StorageCache) {
        let left = self.count
        guard count > 0, let block = cache.adopt(count, behind: left) else {
            return append(UnsafeRawBufferPointer(rebasing: cache.readBuffer(behind: left)[..<count]), using: cache)
        }
        if left > 0 { block.base.copyMemory(from: start, byteCount: left) }
        lower = 0
        upper = left + count
        block.filled = upper
        slack = block.size - upper
        storage = block
    }

    /// The bytes of storage beyond those of the input that frames of it pin, at the first call for a storage; then none.
    package mutating func takeSlack() -> Int {
        defer { slack = 0 }
        return slack
    }

    /// Gives up the storage once nothing is left, so that an idle connection keeps no buffer.
    @inlinable
    package mutating func releaseIfEmpty() {
        if lower == upper {
            storage = nil
            lower = 0
            upper = 0
        }
    }

    /// Drops everything that is left.
    package mutating func removeAll() {
        storage = nil
        lower = 0
        upper = 0
        slack = 0
        isStopped = false
    }

    /// Lets a decoder go on behind a frame that it had marked.
    @inlinable
    package mutating func resume() {
        isStopped = false
    }

    /// What decoders have reported since the last call.
    package mutating func takeFindings() -> [Finding] {
        defer { _findings = nil }
        return _findings ?? []
    }

    @inlinable
    package var hasFindings: Bool { _findings != nil }

    /// The bytes that stand in this input's storage, which is what an unfinished frame pins.
    package var pinnedCount: Int { storage?.size ?? 0 }
}
