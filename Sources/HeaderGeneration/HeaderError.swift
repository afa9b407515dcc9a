/// A place in one of the files that were handed over.
package struct Position: Sendable, Equatable {
    /// The file's path, as it was given.
    package var file: String
    /// Counted from 1.
    package var line: Int
    /// Counted from 1, in bytes.
    package var column: Int

    package init(file: String, line: Int, column: Int) {
        self.file = file
        self.line = line
        self.column = column
    }
}

/// Why no header can be made, and what to do about it, in the form that SwiftPM and editors know.
package struct HeaderError: Error, Equatable, CustomStringConvertible {
    package let position: Position
    package let message: String

    package init(_ position: Position, _ message: String) {
        self.position = position
        self.message = message
    }

    package var description: String { "\(position.file):\(position.line):\(position.column): error: \(message)" }
}
