import Foundation
import Testing

/// Every Swift block of the manual stands in this folder between `// snippet: name` and `// end`, where it is compiled and run.
/// Parts of one name in one file follow each other with an empty line between them.
struct ReadmeBlocks {
    @Test func swiftBlocksAreTheSnippets() throws {
        let here = URL(fileURLWithPath: #filePath).deletingLastPathComponent()
        let readme = here.deletingLastPathComponent().deletingLastPathComponent().appendingPathComponent("README.md")
        let blocks = Self.blocks(in: try String(contentsOf: readme, encoding: .utf8))
        var snippets: [String: String] = [:]
        for file in try FileManager.default.contentsOfDirectory(atPath: here.path).sorted() where file.hasSuffix(".swift") {
            let text = try String(contentsOf: here.appendingPathComponent(file), encoding: .utf8)
            snippets.merge(Self.snippets(in: text)) { first, second in "two files have one name:\n\(first)\n\(second)" }
        }
        #expect(blocks.count >= 5)
        for block in blocks { #expect(snippets.values.contains(block), "no snippet is this block:\n\(block)") }
        for (name, snippet) in snippets { #expect(blocks.contains(snippet), "the README has no block like the snippet “\(name)”") }
    }

    @Test func commandsOfTheContinuousIntegrationAreThere() throws {
        let readme = URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent()
            .appendingPathComponent("README.md")
        let lines = try String(contentsOf: readme, encoding: .utf8).split(separator: "\n", omittingEmptySubsequences: false)
        for name in ["test", "demo"] {
            let mark = try #require(lines.firstIndex(of: "<!-- ci:\(name) -->"), "no mark for \(name)")
            #expect(lines[mark + 1].hasPrefix("```"))
            #expect(lines[mark + 3] == "```", "the command for \(name) is one line")
        }
    }

    /// The C block is the file that the plugin has made the snippets' header of.
    @Test func theStructIsTheOneInThisFolder() throws {
        let here = URL(fileURLWithPath: #filePath).deletingLastPathComponent()
        let readme = here.deletingLastPathComponent().deletingLastPathComponent().appendingPathComponent("README.md")
        let header = try String(contentsOf: here.appendingPathComponent("chat_header.h"), encoding: .utf8)
        #expect(try String(contentsOf: readme, encoding: .utf8).contains("```c\n\(header)```\n"))
    }

    /// What stands between ```` ```swift ```` and ```` ``` ````.
    private static func blocks(in text: String) -> [String] {
        var blocks: [String] = []
        var open: [Substring]?
        for line in text.split(separator: "\n", omittingEmptySubsequences: false) {
            if let lines = open {
                if line.hasPrefix("```") {
                    blocks.append(lines.joined(separator: "\n"))
                    open = nil
                } else {
                    open = lines + [line]
                }
            } else if line.hasPrefix("```swift") {
                open = []
            }
        }
        return blocks
    }

    /// The snippets of a file, without the indentation that their first line has.
    private static func snippets(in text: String) -> [String: String] {
        let marker = "// snippet: "
        var parts: [String: [String]] = [:]
        var open: (name: String, indentation: Int, lines: [String])?
        for line in text.split(separator: "\n", omittingEmptySubsequences: false) {
            let content = line.drop { $0 == " " }
            let indentation = line.count - content.count
            if let (name, margin, lines) = open {
                if content == "// end", indentation == margin {
                    parts[name, default: []].append(lines.joined(separator: "\n"))
                    open = nil
                } else {
                    open?.lines.append(String(line.dropFirst(min(margin, indentation))))
                }
            } else if content.hasPrefix(marker) {
                open = (String(content.dropFirst(marker.count)), indentation, [])
            }
        }
        return parts.mapValues { $0.joined(separator: "\n\n") }
    }
}
