// The peer of the interop tests that is made of Node's own sockets.
//
//   node line_peer.mjs SECONDS serve KIND [ARGUMENT…]           listens at a free port of loopback and says "READY port"
//   node line_peer.mjs SECONDS connect PORT KIND [ARGUMENT…]    connects to loopback
//
// What it sees is told on standard output, a line for each fact. It ends after SECONDS, and when its standard input is closed.
import { compare, cutter, generator, run, say, slow, tell } from './peer.mjs'

/// Calls `take` with each line of text, without LF or CR LF; the function that is returned gives the rest without an end.
function eachLine(socket, take) {
    let text = ''
    socket.setEncoding('utf8')
    socket.on('data', piece => {
        text += piece
        let from = 0
        for (let end; (end = text.indexOf('\n', from)) >= 0; from = end + 1) take(text.slice(from, end).replace(/\r$/, ''))
        text = text.slice(from)
    })
    return () => text
}

/// Calls `take` with each payload behind four bytes, big-endian.
function eachFrame(socket, take) {
    let bytes = Buffer.alloc(0)
    socket.on('data', piece => {
        bytes = Buffer.concat([bytes, piece])
        while (bytes.length >= 4 && bytes.length - 4 >= bytes.readUInt32BE()) {
            const end = 4 + bytes.readUInt32BE()
            take(bytes.subarray(4, end))
            bytes = bytes.subarray(end)
        }
    })
}

function framed(payload) {
    const header = Buffer.alloc(4)
    header.writeUInt32BE(payload.length)
    return Buffer.concat([header, payload])
}

let turn = 0

const servers = {
    /// JSON texts in lines, each answered by another; `{"reset": true}` is answered by a reset, the end by the last answer.
    json(socket, ending) {
        const end = ending === 'crlf' ? '\r\n' : '\n'
        const answer = value => JSON.stringify(value) + end
        const unfinished = eachLine(socket, line => {
            let value
            try { value = JSON.parse(line) } catch { return socket.write(answer({ error: line })) }
            if (value?.reset) return socket.resetAndDestroy()
            socket.write(answer({ echo: value, length: line.length }))
        })
        socket.on('end', () => socket.end(answer({ bye: true, unfinished: unfinished() })))
    },

    /// Writes the first chunk at once and one more for each line that comes; behind the last `end`, `reset` or `stay` is done.
    chunks(socket, ...list) {
        socket.setNoDelay(true)
        const last = list.pop()
        const next = () => {
            if (list.length > 0) return socket.write(Buffer.from(list.shift(), 'hex'))
            if (last === 'end') socket.end()
            if (last === 'reset') socket.resetAndDestroy()
        }
        eachLine(socket, next)
        next()
    },

    /// So many lines and the end, in one go.
    burst(socket, count) {
        let text = ''
        for (let index = 0; index < Number(count); index++) text += `line ${index}\n`
        socket.end(text)
        socket.resume()
    },

    /// Sends each frame back, cut anywhere, and ends when the peer has.
    frames(socket, seed) {
        const output = cutter(socket, generator(Number(seed)))
        eachFrame(socket, payload => output.write(framed(payload)))
        socket.on('end', () => output.finish())
    },

    /// Sends each line back as it is, and ends when the peer has.
    lines(socket) {
        eachLine(socket, line => socket.write(line + '\n'))
        socket.on('end', () => socket.end())
    },

    slow,

    /// Accepts, and goes at once: by an end, an end behind a line, a reset in turns.
    leaving(socket) {
        socket.resume()
        turn += 1
        if (turn % 3 === 0) socket.resetAndDestroy()
        else socket.end(turn % 3 === 1 ? '' : 'bye\n')
    },
}

const clients = {
    /// Sends so many JSON texts in lines, cut and glued, and expects the same bytes back.
    lines(connect, seed, count) {
        const random = generator(Number(seed))
        let text = ''
        for (let index = 0; index < Number(count); index++) {
            text += JSON.stringify({ index, text: 'é€😀'.repeat(Math.floor(random() * 20)) }) + '\n'
        }
        const socket = connect()
        tell(socket, 0)
        compare(socket, Buffer.from(text), random)
    },

    /// Sends so many frames, cut and glued, and expects the same bytes back.
    frames(connect, seed, count) {
        const random = generator(Number(seed))
        const frames = []
        for (let index = 0; index < Number(count); index++) {
            frames.push(framed(Buffer.alloc(Math.floor(random() * (random() < 0.9 ? 60 : 20000)), index)))
        }
        const socket = connect()
        tell(socket, 0)
        compare(socket, Buffer.concat(frames), random)
    },

    /// So many connections that send one text each (as JSON writes strings) and tell each line that comes. After the text: `end` ends
    /// the sending, `stay` doesn't before the server has, `reset` resets at the first line that comes.
    talk(connect, count, text, after) {
        for (let index = 0; index < Number(count); index++) {
            const socket = connect()
            tell(socket, index)
            socket.on('end', () => socket.end())
            eachLine(socket, line => {
                say(index, 'LINE', line)
                if (after === 'reset') socket.resetAndDestroy()
            })
            socket.write(JSON.parse(text))
            if (after === 'end') socket.end()
        }
    },

    /// So many connections, one after the other, that are ended, destroyed or reset as soon as they are there.
    churn(connect, count) {
        let index = 0
        const next = () => {
            if (index === Number(count)) return say('DONE')
            const socket = connect()
            index += 1
            socket.resume()
            socket.on('close', next)
            socket.on('connect', () => {
                if (index % 3 === 0) socket.resetAndDestroy()
                else if (index % 3 === 1) socket.destroy()
                else socket.end('half')
            })
        }
        next()
    },
}

run(servers, clients)
