// The peer of the interop tests that speaks requests and responses behind a header of 16 bytes: length, serial, command and code.
//
//   node request_peer.mjs SECONDS serve answer SEED [little] [body]          listens at a free port of loopback and says "READY port"
//   node request_peer.mjs SECONDS connect PORT ask SEED COUNT [little] [body]   connects to loopback
//
// With "little" the integers are little-endian; with "body" the length counts the body and not the whole packet. What it sees is told on
// standard output, a line for each fact. It ends after SECONDS, and when its standard input is closed.
import { cutter, generator, run, say, tell } from './peer.mjs'

const echo = 1, hold = 2, release = 3, subscribe = 4, news = 100

/// What reads and writes packets, as the command line says.
function format(settings) {
    const order = settings.includes('little') ? 'LE' : 'BE'
    const counted = settings.includes('body') ? 0 : 16
    return {
        packet(serial, command, code, body) {
            const header = Buffer.alloc(16)
            const fields = [counted + body.length, serial, command, code]
            fields.forEach((field, index) => header[`writeInt32${order}`](field, 4 * index))
            return Buffer.concat([header, body])
        },
        /// Calls `take` with each packet.
        each(socket, take) {
            let bytes = Buffer.alloc(0)
            socket.on('data', piece => {
                bytes = Buffer.concat([bytes, piece])
                while (bytes.length >= 16) {
                    const [length, serial, command, code] = [0, 4, 8, 12].map(place => bytes[`readInt32${order}`](place))
                    const end = 16 - counted + length
                    if (bytes.length < end) return
                    take({ serial, command, code, body: bytes.subarray(16, end) })
                    bytes = bytes.subarray(end)
                }
            })
        },
    }
}

const servers = {
    /// Answers requests under their serials, cut anywhere; what is held is answered last come first before a release is. Ends when the peer
    /// has.
    answer(socket, seed, ...settings) {
        const { packet, each } = format(settings)
        const output = cutter(socket, generator(Number(seed)))
        const held = []
        each(socket, ({ serial, command, body }) => {
            const answer = (code, text) => output.write(packet(serial, command, code, Buffer.from(text)))
            if (command === echo) answer(0, body)
            else if (command === hold) held.push(() => answer(0, body))
            else if (command === release) {
                while (held.length > 0) held.pop()()
                answer(0, '')
            } else if (command === subscribe) {
                answer(0, '')
                for (const number of [1, 2, 3]) output.write(packet(0, news, 0, Buffer.from(`news ${number} é`)))
            } else answer(-404, `no command ${command}`)
        })
        socket.on('end', () => output.finish())
    },
}

const clients = {
    /// Sends so many requests, cut and glued, and pairs the answers, which may come in any order; says what is pushed, and ends when all
    /// have come.
    ask(connect, seed, count, ...settings) {
        const { packet, each } = format(settings)
        const random = generator(Number(seed))
        const waiting = new Map()
        const socket = connect()
        tell(socket, 0)
        const output = cutter(socket, random)
        for (let serial = 1; serial <= Number(count); serial++) {
            const body = Buffer.alloc(Math.floor(random() * (random() < 0.9 ? 60 : 20000)), serial)
            waiting.set(serial, body)
            output.write(packet(serial, echo, 0, body))
        }
        let order = []
        each(socket, ({ serial, command, code, body }) => {
            if (serial === 0) return say('PUSH', command, body)
            if (command !== echo || code !== 0 || !waiting.get(serial)?.equals(body)) say('DIFFERENT', serial)
            waiting.delete(serial)
            order.push(serial)
            if (waiting.size > 0) return
            say('ANSWERED', order.length, order.every((serial, index) => serial === index + 1) ? 'IN ORDER' : 'IN ANOTHER ORDER')
            output.finish()
        })
    },
}

run(servers, clients)
