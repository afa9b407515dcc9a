// The peer of the interop tests that speaks packets behind a header of 16 bytes - version 1, main type, sub type, length, all of 32 bits and
// little-endian - and puts garbage between them.
//
//   node type_header_peer.mjs SECONDS serve echo SEED                 listens at a free port of loopback and says "READY port"
//   node type_header_peer.mjs SECONDS connect PORT echo SEED COUNT    connects to loopback
//
// What it sees is told on standard output, a line for each fact. It ends after SECONDS, and when its standard input is closed.
import { cutter, generator, run, say, tell } from './peer.mjs'

function packet(mainType, subType, body) {
    const header = Buffer.alloc(16)
    const fields = [1, mainType, subType, body.length]
    fields.forEach((field, index) => header.writeInt32LE(field, 4 * index))
    return Buffer.concat([header, body])
}

/// Calls `take` with each packet. This side has nothing to find its way with.
function eachPacket(socket, take) {
    let bytes = Buffer.alloc(0)
    socket.on('data', piece => {
        bytes = Buffer.concat([bytes, piece])
        while (bytes.length >= 16 && bytes.length >= 16 + bytes.readUInt32LE(12)) {
            const end = 16 + bytes.readUInt32LE(12)
            take(bytes.readInt32LE(4), bytes.readInt32LE(8), bytes.subarray(16, end))
            bytes = bytes.subarray(end)
        }
    })
}

/// Puts packets behind garbage in which no header begins, and says how much each time.
function litterer(socket, seed) {
    const random = generator(Number(seed))
    const output = cutter(socket, random)
    const litter = () => {
        const garbage = Buffer.from(Array.from({ length: 1 + Math.floor(random() * 300) }, () => 128 + Math.floor(random() * 128)))
        say('GARBAGE', garbage.length)
        output.write(garbage)
    }
    return { write(bytes) { litter(); output.write(bytes) }, finish: output.finish }
}

const servers = {
    /// Sends each packet back behind garbage, and ends when the peer has.
    echo(socket, seed) {
        const output = litterer(socket, seed)
        eachPacket(socket, (mainType, subType, body) => output.write(packet(mainType, subType, body)))
        socket.on('end', () => output.finish())
    },
}

const clients = {
    /// Sends so many packets behind garbage and expects the packets back.
    echo(connect, seed, count) {
        const socket = connect()
        tell(socket, 0)
        const output = litterer(socket, seed)
        const bodyOf = index => Buffer.alloc(index * 7 % 500, index)
        for (let index = 0; index < Number(count); index++) output.write(packet(index, -1, bodyOf(index)))
        let index = 0
        eachPacket(socket, (mainType, subType, body) => {
            if (mainType !== index || subType !== -1 || !body.equals(bodyOf(index))) say('DIFFERENT', index)
            index += 1
            if (index < Number(count)) return
            say('SAME', index)
            output.finish()
        })
    },
}

run(servers, clients)
