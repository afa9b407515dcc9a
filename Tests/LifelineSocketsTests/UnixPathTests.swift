import CLifelineSystem
import Glibc
import LifelineCore
import LifelineRuntime
import LifelineSockets
import Testing

/// C122: what stands at the path of a Unix socket.
struct UnixPathTests {
    private let driver = SystemDriver(EventLoops(count: 1))
    private let folder = Folder()

    private func listen(_ path: String, options: SocketOptions = SocketOptions()) async throws -> any Listener {
        try await driver.listen(.unix(path), on: driver.nextLoop(), dealingTo: [], options: options, sink: Sink())
    }

    private func failure(at path: String, options: SocketOptions = SocketOptions()) async -> SocketError? {
        await #expect(throws: SocketError.self) {
            let listener = try await listen(path, options: options)
            await listener.close()
        }
    }

    /// A socket file as a killed process leaves it.
    private func leaveStaleFile(at path: String) {
        let descriptor = lls_socket(Int32(LLS_UNIX))
        var address = lls_address()
        _ = lls_make_unix_address(path, path.utf8.count, &address)
        #expect(lls_bind(descriptor, &address) == 0)
        close(descriptor)
    }

    @Test func C122a_aStaleFileIsReplacedIfTheOptionSaysSo() async throws {
        let path = folder.path + "/stale"
        leaveStaleFile(at: path)
        var options = SocketOptions()
        options.replaceStalePath = false
        #expect(await failure(at: path, options: options)?.code == .addressInUse)
        #expect(Folder.holds(path))
        let listener = try await listen(path)
        let client = try await driver.dial(.unix(path), on: driver.nextLoop(), options: SocketOptions(), within: outerLimit)
        try await client.close()
        await listener.close()
        #expect(!Folder.holds(path))
    }

    @Test func C122b_aLiveServerIsLeftAlone() async throws {
        let path = folder.path + "/live"
        let listener = try await listen(path)
        for _ in 0..<3 { #expect(await failure(at: path)?.code == .addressInUse) }
        let client = try await driver.dial(.unix(path), on: driver.nextLoop(), options: SocketOptions(), within: outerLimit)
        try await client.close()
        await listener.close()
    }

    @Test func C122b_aLiveServerWithAFullBacklogIsLeftAlone() async throws {
        let path = folder.path + "/full"
        let (server, fillers) = try fullListener(at: path)
        #expect(await failure(at: path)?.code == .addressInUse)
        #expect(Folder.holds(path))
        for descriptor in fillers + [server] { close(descriptor) }
    }

    @Test func C122c_longPathsAreAnErrorAndNeverCut() async throws {
        let fits = folder.path(ofLength: 107)
        let listener = try await listen(fits)
        #expect(Folder.holds(fits))
        #expect(listener.endpoint == .unix(fits))
        let client = try await driver.dial(.unix(fits), on: driver.nextLoop(), options: SocketOptions(), within: outerLimit)
        try await client.close()
        await listener.close()
        for length in [108, 200] {
            let path = folder.path(ofLength: length)
            #expect(await failure(at: path)?.code == .invalidEndpoint)
            let error = await #expect(throws: SocketError.self) {
                try await driver.dial(.unix(path), on: driver.nextLoop(), options: SocketOptions(), within: outerLimit)
            }
            #expect(error?.code == .invalidEndpoint)
        }
        #expect(await failure(at: "")?.code == .invalidEndpoint)
        #expect(await failure(at: "a\0b")?.code == .invalidEndpoint)
        #expect(await failure(at: folder.path + "/missing/s")?.code == .invalidEndpoint)
    }

    @Test func C122d_aPlainFileIsLeftAlone() async throws {
        let path = folder.path + "/plain"
        close(open(path, O_CREAT | O_WRONLY, 0o600))
        #expect(await failure(at: path)?.code == .addressInUse)
        #expect(Folder.holds(path))
        // Nor does a link lead anywhere.
        let link = folder.path + "/link"
        symlink(path, link)
        #expect(await failure(at: link)?.code == .addressInUse)
        #expect(Folder.holds(link))
    }

    @Test func C122e_theFileGoesWithTheListenerUnlessItIsAnothers() async throws {
        let path = folder.path + "/own"
        let first = try await listen(path)
        // Somebody takes the path over by hand.
        unlink(path)
        let second = try await listen(path)
        await first.close()
        #expect(Folder.holds(path))
        await second.close()
        #expect(!Folder.holds(path))
        await second.close()
    }

    @Test func aDialWaitsForAFullBacklogAndEndsAtItsLimit() async throws {
        let path = folder.path + "/busy"
        let (server, fillers) = try fullListener(at: path)
        let error = await #expect(throws: SocketError.self) {
            try await driver.dial(.unix(path), on: driver.nextLoop(), options: SocketOptions(), within: .milliseconds(50))
        }
        #expect(error?.code == .timedOut)
        #expect(error?.phase == .connect)
        let dialling = Task {
            try await driver.dial(.unix(path), on: driver.nextLoop(), options: SocketOptions(), within: outerLimit)
        }
        for _ in fillers { close(accept(server, nil, nil)) }
        try await dialling.value.close()
        for descriptor in fillers + [server] { close(descriptor) }
    }

    private func fullListener(at path: String) throws -> (server: Int32, fillers: [Int32]) {
        let server = socket(AF_UNIX, Int32(SOCK_STREAM.rawValue), 0)
        var address = lls_address()
        _ = lls_make_unix_address(path, path.utf8.count, &address)
        try #require(lls_bind(server, &address) == 0 && lls_listen(server, 0) == 0)
        var fillers: [Int32] = []
        while true {
            let filler = lls_socket(Int32(LLS_UNIX))
            if lls_connect(filler, &address) != 0 {
                close(filler)
                return (server, fillers)
            }
            fillers.append(filler)
        }
    }
}
