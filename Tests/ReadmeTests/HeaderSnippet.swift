// snippet: header
import Lifeline

func talk(at endpoint: Endpoint) async throws {
    let codec = HeaderCodec(ChatHeader.self).resynchronizing()
    let connection = try await Connection.connect(to: endpoint, codec: codec, within: .seconds(3))
    try await connection.send(Packet(header: ChatHeader(mainType: 1, subType: 7), body: Bytes("hello")))
    for try await packet in connection.messages {
        switch (packet.header.mainType, packet.header.subType) {
        case (1, let room): print("in room \(room): \(String(packet.body))")
        case (2, _): print("somebody came or went")
        default: break
        }
    }
}
// end
