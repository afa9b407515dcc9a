// snippet: typed
import Lifeline

struct Join: Codable, Sendable, Equatable {
    var room: String
}

struct Say: Codable, Sendable, Equatable {
    var text: String
}

enum ChatMessage: Sendable, Equatable {
    case join(Join)
    case say(Say)
    case unknown(type: String)
}

extension ChatMessage: Codable {
    private enum Key: String, CodingKey { case type }

    init(from decoder: any Decoder) throws {
        let type = try decoder.container(keyedBy: Key.self).decode(String.self, forKey: .type)
        switch type {
        case "join": self = .join(try Join(from: decoder))
        case "say": self = .say(try Say(from: decoder))
        default: self = .unknown(type: type)
        }
    }

    func encode(to encoder: any Encoder) throws {
        var container = encoder.container(keyedBy: Key.self)
        switch self {
        case .join(let join):
            try container.encode("join", forKey: .type)
            try join.encode(to: encoder)
        case .say(let say):
            try container.encode("say", forKey: .type)
            try say.encode(to: encoder)
        case .unknown(let type):
            try container.encode(type, forKey: .type)
        }
    }
}

func serveChat(at endpoint: Endpoint, on network: some Network) async throws {
    let server = try await Server.bind(endpoint, codec: .jsonLines(of: ChatMessage.self), on: network)
    try await server.run { connection in
        for try await message in connection.messages {
            switch message {
            case .join(let join): try await connection.send(.say(Say(text: "welcome to \(join.room)")))
            case .say: try await server.broadcast(message)
            case .unknown(let type): print("passed over a message of type \(type)")
            }
        }
    }
}
// end

// snippet: dispatch
func answer(_ connection: Connection<JSONHeaderCodec>) async throws {
    for try await packet in connection.messages {
        switch packet.header["type"] {
        case "join":
            let welcome = Say(text: "welcome to \(try packet.json(as: Join.self).room)")
            try await connection.send(Packet(header: ["type": "say"], json: welcome))
        case "say": try await connection.send(packet)
        default: print("passed over a packet of \(packet.body.count) bytes with \(packet.header)")
        }
    }
}
// end
