# The peer of the interop tests that is made of Ruby's own sockets: lines.
#
#   ruby line_peer.rb SECONDS serve KIND           listens at a free port of loopback and says "READY port"
#   ruby line_peer.rb SECONDS connect PORT KIND    connects to loopback
#
# What it sees is told on standard output, a line for each fact. It ends after SECONDS, and when its standard input is closed.
require 'socket'

seconds, mode, *rest = ARGV
$stdout.sync = true
Thread.report_on_exception = true
Thread.new { sleep Integer(seconds); exit! 3 }
Thread.new { $stdin.read; exit! 0 }

# What a release that forgot the terminator sends: 42 bytes.
UNTERMINATED = '{"requestCode":"10001","token":"abcdefgh"}'

SERVERS = {
  # Sends each line back, and ends when the peer has.
  'echo' => lambda do |socket|
    while (line = socket.gets) do socket.puts line.chomp end
  end,
  # The same with CR LF.
  'crlf' => lambda do |socket|
    while (line = socket.gets) do socket.write line.chomp, "\r\n" end
  end,
  # A line as it should be, and one that never ends; says how the peer took it.
  'unterminated' => lambda do |socket|
    socket.puts '{"requestCode":"10000"}'
    socket.write UNTERMINATED
    say_end socket
  end
}.freeze

CLIENTS = {
  # Sends 200 short lines, an empty one and a long one, and expects them back; ends its side behind them.
  'echo' => lambda do |socket|
    lines = (0...200).map { |index| "line #{index} é€😀" } + ['', '0123456789' * 5000, 'last']
    writer = Thread.new { lines.each { |line| socket.puts line } }
    back = lines.map { socket.gets&.force_encoding('UTF-8')&.chomp }
    writer.join
    puts back == lines ? "SAME #{back.size}" : 'DIFFERENT'
    socket.close_write
    puts socket.read.empty? ? 'END' : 'MORE'
  end,
  # A line as it should be, and one that never ends; says how the peer took it.
  'unterminated' => SERVERS['unterminated']
}.freeze

def say_end(socket)
  socket.read
  puts 'END'
rescue Errno::ECONNRESET
  puts 'RESET'
end

if mode == 'serve'
  server = TCPServer.new '127.0.0.1', 0
  puts "READY #{server.addr[1]}"
  loop do
    Thread.new server.accept do |socket|
      socket.setsockopt Socket::IPPROTO_TCP, Socket::TCP_NODELAY, 1
      SERVERS.fetch(rest[0]).call socket
    ensure
      socket.close
    end
  end
else
  socket = TCPSocket.new '127.0.0.1', Integer(rest[0])
  socket.setsockopt Socket::IPPROTO_TCP, Socket::TCP_NODELAY, 1
  CLIENTS.fetch(rest[1]).call socket
  socket.close
  # The tests end it.
  sleep
end
