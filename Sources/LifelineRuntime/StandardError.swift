#if canImport(Darwin)
    import Darwin
#elseif canImport(Musl)
    import Musl
#else
    import Glibc
#endif

/// One line on standard error: where faults go that the application gave no other place.
package func printError(_ line: String) {
    // One write, so that lines of different threads aren't mixed.
    var text = "lifeline: \(line)\n"
    text.withUTF8 { _ = write(2, $0.baseAddress, $0.count) }
}
