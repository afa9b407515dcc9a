// What `decode --help` prints.
extension Help {
    static let decode = """
        usage: lifeline decode [options] FILE

        Shows what stands in a captured stream: what one side of a connection has sent, without
        anything around it. FILE may be - for standard input. Each frame is a line, and so is
        each fault, behind a !:

            0+21              [3/1] hello
            21+12           ! skipped bytes: 12 bytes
            33+7            ! truncated frame: 7 of 16 bytes of the header

        First come the offset of its first byte and the number of its bytes, headers and
        terminators included; then the header, if the codec has one, in the form that
        lifeline connect --help tells; then the body, as text or, if it isn't UTF-8, in
        hexadecimal, cut if it is long.

        Where a format allows it, decoding goes on behind a fault: behind lines that are too
        long, lines and texts that aren't UTF-8, lines that aren't JSON, and bytes between the
        packets of type-header. Where it doesn't, what is left is one part, not decoded. Standard
        error gets the numbers of frames, bytes and faults.

        options:
          --codec CODEC    what frames are on the wire, see below; line by default
          --max BYTES      the largest frame, headers and terminators not counted; 65536 for
                           lines and texts and 1048576 otherwise by default
          --skip BYTES     the most bytes to skip between two frames; 65536 by default
          --hex            show all bodies in hexadecimal
          --full           show all of each body
          --help           this text

        examples:
          lifeline decode --codec type-header capture.bin
          lifeline connect --codec raw 127.0.0.1:7000 </dev/null | lifeline decode --codec netstring -

        codecs:
        \(CodecTable.help)

        exit status: 0 if there is no fault in the stream, 1 if there is or FILE can't be read, 2 if
        the command line is wrong.
        """
}
