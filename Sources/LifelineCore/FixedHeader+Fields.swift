// What headers with text and arrays in them need, such as those that the plugin `GenerateHeaders` makes.
extension FixedHeader {
    /// `bytes` as a field of `count` bytes: what is missing is filled up with zeros.
    ///
    /// - Throws: ``SocketError/Code/unencodable`` if there are more.
    public static func filled(_ bytes: Bytes, to count: Int) throws(SocketError) -> Bytes {
        if bytes.count == count { return bytes }
        return Bytes(try filled(Array(bytes), to: count))
    }

    /// `elements` as a field of `count` numbers: what is missing is filled up with zeros.
    ///
    /// - Throws: ``SocketError/Code/unencodable`` if there are more.
    public static func filled<Element: FixedWidthInteger>(_ elements: [Element], to count: Int) throws(SocketError) -> [Element] {
        guard elements.count <= count else {
            throw SocketError(.unencodable, "\(elements.count) elements are more than the \(count) that the header's field has")
        }
        return elements + Array(repeating: 0, count: count - elements.count)
    }

    /// The text that stands in a field up to its first NUL; nil if that isn't valid UTF-8.
    public static func text(of bytes: Bytes) -> String? {
        String(validating: bytes.slice(0..<(bytes.firstIndex(of: 0) ?? bytes.count)))
    }
}
