import Lifeline
import LifelineTesting
import Testing

private struct Note: Codable, Hashable {
    var text: String
}

@Suite("Typed frames")
struct JSONBodyTests {
    @Test("a value goes over a length prefix and comes back")
    func roundTrip() throws {
        let codec = LengthPrefixCodec().json(of: Note.self)
        let frame = try codec.frame(for: Note(text: "hello"))
        #expect(String(frame) == #"{"text":"hello"}"#)
        #expect(try codec.message(from: frame) == Note(text: "hello"))
    }
}
