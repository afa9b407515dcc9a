import LifelineCore
import Testing

@Suite("LengthLayout")
struct LengthLayoutTests {
    @Test("names as on a command line")
    func names() throws {
        #expect(try LengthLayout(parsing: "length:4be") == LengthLayout())
        #expect(try LengthLayout(parsing: "length:4") == LengthLayout())
        #expect(try LengthLayout(parsing: "length:2le") == LengthLayout(width: .two, order: .little))
        #expect(try LengthLayout(parsing: "length:1") == LengthLayout(width: .one))
        #expect(try LengthLayout(parsing: "length:3be") == LengthLayout(width: .three))
        #expect(try LengthLayout(parsing: "length:8le") == LengthLayout(width: .eight, order: .little))
        #expect(try LengthLayout(parsing: "length:varint") == LengthLayout(width: .varint))
    }

    @Test(
        "other names are refused",
        arguments: ["", "length", "length:", "length:5", "length:be", "4be", "length:4xe", "length:varintle", "lines", "length:4bele"])
    func otherNames(name: String) {
        #expect(throws: SocketError(.misuse, "")) { try LengthLayout(parsing: name) }
    }

    @Test("names are printed as they are parsed")
    func printed() throws {
        for name in ["length:1", "length:2be", "length:3le", "length:4be", "length:8le", "length:varint"] {
            #expect(try LengthLayout(parsing: name).description == name)
        }
        let layout = LengthLayout(width: .two, offset: 1, trailing: 2, counts: .wholeFrame, adjustment: -3, keepsHeader: true)
        #expect(layout.description == "length:2be offset 1 trailing 2 counting the whole frame adjusted by -3 with header")
    }
}
