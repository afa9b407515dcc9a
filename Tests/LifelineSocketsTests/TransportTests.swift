import CLifelineSystem
import Glibc
import LifelineCore
import LifelineRuntime
import LifelineSockets
import Testing

struct TransportTests {
    @Test(arguments: ["tcp", "unix"])
    func bytesGoBothWaysAndTheEndIsSeen(kind: String) async throws {
        let folder = Folder()
        let pair = try await Pair(kind == "tcp" ? .tcp("127.0.0.1", 0) : .unix(folder.path + "/s"))
        let server = try await Stream(pair.server, echo: true)
        let client = try await Stream(pair.client)
        for round in 0..<100 {
            let text = "hello \(round)"
            client.send(text)
            #expect(try await client.read(text.utf8.count) == Array(text.utf8))
        }
        try await client.finishSending()
        guard case .ended(.closedByPeer) = try await server.news.next() else {
            Issue.record("the server saw another end")
            return
        }
        try await server.finishSending()
        #expect(try await client.rest().reason == .closedByPeer)
        await pair.close()
    }

    @Test func aShortReadNeedsNoSecondCallAndTheNextBytesAreAnEvent() async throws {
        let (listener, port) = Raw.listen()
        let driver = SystemDriver(EventLoops(count: 1))
        let transport = try await driver.dial(
            .tcp("127.0.0.1", port), on: driver.nextLoop(), options: SocketOptions(), within: outerLimit)
        let peer = accept(listener, nil, nil)
        let probe = NoticeProbe()
        try await transport.loop.perform { transport.start(probe) }
        for text in ["one", "two", "three"] {
            Raw.write(peer, text)
            try await probe.next(.readable)
            let (result, bytes) = try await transport.readOnce()
            #expect(result == .bytes(text.utf8.count, more: false))
            #expect(bytes == Array(text.utf8))
        }
        #expect(try await transport.readOnce().result == .wouldBlock)
        // With the end behind them the bytes aren't the last thing to read.
        Raw.write(peer, "last")
        close(peer)
        try await probe.next(.readable)
        let (bytes, ended) = try await transport.drainToEnd(probe)
        #expect(bytes == Array("last".utf8))
        #expect(ended)
        try await transport.close()
        close(listener)
    }

    @Test func noticesFromBeforeTheStartComeThenAndNotFromInsideIt() async throws {
        let (mine, peer) = Raw.pair()
        let transport = try await SystemNetwork().adopt(mine)
        Raw.write(peer, "early")
        let probe = NoticeProbe()
        let inside = try await transport.loop.perform {
            transport.start(probe)
            return probe.notices.count
        }
        #expect(inside == 0)
        try await probe.next(.readable)
        let (first, _) = try await transport.readOnce(2)
        #expect(first == .bytes(2, more: true))
        let asked = try await transport.loop.perform {
            transport.askToRead()
            transport.askToRead()
            return probe.notices.count
        }
        #expect(asked == 0)
        try await probe.next(.readable)
        #expect(try await transport.readOnce().bytes == Array("rly".utf8))
        // Nothing is left, so asking gives no notice.
        try await transport.loop.perform { transport.askToRead() }
        try await transport.loop.perform {}
        #expect(probe.notices.count == 0)
        try await transport.close()
        close(peer)
    }

    @Test func aFullPipeTakesPartAndSaysWhenItTakesMore() async throws {
        let (mine, peer) = Raw.pair()
        let transport = try await SystemNetwork().adopt(mine)
        let probe = NoticeProbe()
        try await transport.loop.perform { transport.start(probe) }
        // More regions than one call takes.
        let regions = (0..<300).map { Bytes(repeatElement(UInt8(truncatingIfNeeded: $0), count: 4096)) }
        var rest = regions[...]
        var sent = 0
        var received: [UInt8] = []
        while true {
            let now = rest
            let count = try await transport.loop.perform { try transport.write(now) }
            sent += count
            rest = advance(rest, by: count)
            if rest.isEmpty { break }
            // The peer takes all of it before the notice is due.
            while received.count < sent { received += readSome(peer) }
            try await probe.next(.writable)
        }
        while received.count < sent { received += readSome(peer) }
        #expect(sent == 4096 * 300)
        #expect(received == regions.flatMap { Array($0) })
        try await transport.close()
        close(peer)
    }

    @Test func urgentDataDoesNotStallTheReader() async throws {
        let (listener, port) = Raw.listen()
        let driver = SystemDriver(EventLoops(count: 1))
        let transport = try await driver.dial(
            .tcp("127.0.0.1", port), on: driver.nextLoop(), options: SocketOptions(), within: outerLimit)
        let peer = accept(listener, nil, nil)
        // Reads stop at the mark, with bytes behind it that are no news to the poller.
        Raw.write(peer, "before")
        #expect(Glibc.send(peer, "!", 1, Int32(MSG_OOB)) == 1)
        Raw.write(peer, "behind")
        let stream = try await Stream(transport)
        #expect(try await stream.read(12) == Array("beforebehind".utf8))
        try await stream.closeNow()
        close(peer)
        close(listener)
    }

    @Test func descriptorsThatAPeerPassesDoNotStallTheReader() async throws {
        let (mine, peer) = Raw.pair()
        let spare = dup(peer)
        sendDescriptor(spare, over: peer, with: "with")
        Raw.write(peer, "behind")
        let stream = try await Stream(try await SystemNetwork().adopt(mine))
        #expect(try await stream.read(10) == Array("withbehind".utf8))
        try await stream.closeNow()
        close(peer)
        close(spare)
    }

    @Test func addressesAreKnownAlsoAfterTheEnd() async throws {
        let pair = try await Pair(.tcp("127.0.0.1", 0))
        let (client, server) = (pair.client, pair.server)
        for _ in 0..<2 {
            let (ours, theirs) = try await client.loop.perform { (client.localEndpoint, client.remoteEndpoint) }
            #expect(theirs == pair.listener.endpoint)
            #expect(try await server.loop.perform { server.remoteEndpoint } == ours)
            #expect(try await server.loop.perform { server.localEndpoint } == theirs)
            try await client.close()
            try await server.close()
        }
        await pair.close()
        let folder = Folder()
        let unix = try await Pair(.unix(folder.path + "/s"))
        let accepted = unix.server
        #expect(try await accepted.loop.perform { accepted.remoteEndpoint } == nil)
        #expect(try await accepted.loop.perform { accepted.localEndpoint } == .unix(folder.path + "/s"))
        await unix.close()
    }

    @Test func tcpFactsAreThereForTCPOnly() async throws {
        let pair = try await Pair(.tcp("::1", 0))
        let client = pair.client
        let facts = try await client.loop.perform { client.tcpInfo }
        #expect(try #require(facts).roundTrip > .zero)
        await pair.close()
        let (mine, peer) = Raw.pair()
        let unix = try await SystemNetwork().adopt(mine)
        #expect(try await unix.loop.perform { unix.tcpInfo } == nil)
        try await unix.close()
        close(peer)
    }

    @Test func onlyConnectedStreamSocketsAreAdopted() async throws {
        let datagrams = socket(AF_INET, Int32(SOCK_DGRAM.rawValue), 0)
        let unconnected = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
        let (listener, _) = Raw.listen()
        let file = open("/dev/null", O_RDONLY)
        for descriptor in [datagrams, unconnected, listener, file, -1] {
            let error = await #expect(throws: SocketError.self) { try await SystemNetwork().adopt(descriptor) }
            #expect(error?.code == .misuse)
            if descriptor >= 0 { #expect(fcntl(descriptor, F_GETFL) & O_NONBLOCK == 0) }
        }
        for descriptor in [datagrams, unconnected, listener, file] { close(descriptor) }
    }

    private func readSome(_ descriptor: Int32) -> [UInt8] {
        [UInt8](unsafeUninitializedCapacity: 64 * 1024) { buffer, count in
            count = max(0, recv(descriptor, buffer.baseAddress, buffer.count, 0))
        }
    }

    private func advance(_ regions: ArraySlice<Bytes>, by count: Int) -> ArraySlice<Bytes> {
        var rest = regions
        var left = count
        while left > 0, let first = rest.first {
            rest.removeFirst()
            if first.count > left {
                rest = [first.slice(left..<first.count)] + rest
                left = 0
            } else {
                left -= first.count
            }
        }
        return rest
    }

    private func sendDescriptor(_ descriptor: Int32, over socket: Int32, with text: String) {
        var bytes = Array(text.utf8)
        var control = [UInt8](repeating: 0, count: 24)  // one `cmsghdr` with one descriptor
        control.withUnsafeMutableBytes { raw in
            raw.storeBytes(of: 20, as: Int.self)
            raw.storeBytes(of: SOL_SOCKET, toByteOffset: 8, as: Int32.self)
            raw.storeBytes(of: 1, toByteOffset: 12, as: Int32.self)  // SCM_RIGHTS
            raw.storeBytes(of: descriptor, toByteOffset: 16, as: Int32.self)
            bytes.withUnsafeMutableBytes { payload in
                var region = iovec(iov_base: payload.baseAddress, iov_len: payload.count)
                withUnsafeMutablePointer(to: &region) { vector in
                    var message = msghdr()
                    message.msg_iov = vector
                    message.msg_iovlen = 1
                    message.msg_control = raw.baseAddress
                    message.msg_controllen = raw.count
                    #expect(sendmsg(socket, &message, 0) == payload.count)
                }
            }
        }
    }
}

extension Transport {
    /// Reads to the end, waiting for notices.
    func drainToEnd(_ probe: NoticeProbe) async throws -> (bytes: [UInt8], ended: Bool) {
        var all: [UInt8] = []
        while true {
            let (bytes, ended) = try await drain()
            all += bytes
            if ended { return (all, true) }
            try await probe.next(.readable)
        }
    }
}
