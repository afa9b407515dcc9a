import io.netty.bootstrap.Bootstrap;
import io.netty.bootstrap.ServerBootstrap;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import io.netty.channel.Channel;
import io.netty.channel.ChannelHandler;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInboundHandlerAdapter;
import io.netty.channel.ChannelInitializer;
import io.netty.channel.ChannelOutboundHandlerAdapter;
import io.netty.channel.ChannelPipeline;
import io.netty.channel.ChannelPromise;
import io.netty.channel.EventLoopGroup;
import io.netty.channel.nio.NioEventLoopGroup;
import io.netty.channel.socket.SocketChannel;
import io.netty.channel.socket.nio.NioServerSocketChannel;
import io.netty.channel.socket.nio.NioSocketChannel;
import io.netty.handler.codec.DecoderException;
import io.netty.handler.codec.DelimiterBasedFrameDecoder;
import io.netty.handler.codec.Delimiters;
import io.netty.handler.codec.LengthFieldBasedFrameDecoder;
import io.netty.handler.codec.LengthFieldPrepender;
import io.netty.handler.codec.LineBasedFrameDecoder;
import io.netty.handler.codec.MessageToMessageEncoder;
import io.netty.handler.codec.json.JsonObjectDecoder;
import java.io.IOException;
import java.net.InetSocketAddress;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Queue;
import java.util.Random;

/**
 * The peer of the interop tests that is made of Netty and its codecs.
 *
 * <pre>
 * java NettyPeer SECONDS serve NAME…           listens at a free port of loopback for each and says "READY port…"
 * java NettyPeer SECONDS connect NAME=PORT…    connects to loopback, sends messages and compares what comes back
 * </pre>
 *
 * NAME is a codec of {@link #addCodec}. What it sees is told on standard output, a line for each fact. It ends after SECONDS, and when
 * its standard input is closed.
 */
public final class NettyPeer {
    /** The most bytes of a frame, with what Netty counts. */
    private static final int LONGEST = 1 << 17;

    private static final InetSocketAddress ANY_PORT = new InetSocketAddress("127.0.0.1", 0);

    public static void main(String[] arguments) throws Exception {
        endBy(Integer.parseInt(arguments[0]));
        EventLoopGroup loops = new NioEventLoopGroup(1);
        StringBuilder ready = new StringBuilder("READY");
        for (String argument : Arrays.asList(arguments).subList(2, arguments.length)) {
            if (arguments[1].equals("serve")) {
                ServerBootstrap server = new ServerBootstrap().group(loops).channel(NioServerSocketChannel.class);
                Channel channel = server.childHandler(setUp(argument, false)).bind(ANY_PORT).sync().channel();
                ready.append(' ').append(((InetSocketAddress) channel.localAddress()).getPort());
            } else {
                String[] pair = argument.split("=");
                Bootstrap client = new Bootstrap().group(loops).channel(NioSocketChannel.class).handler(setUp(pair[0], true));
                client.connect("127.0.0.1", Integer.parseInt(pair[1])).sync();
            }
        }
        if (arguments[1].equals("serve")) {
            say(ready.toString());
        }
    }

    private static ChannelHandler setUp(String name, boolean isClient) {
        return new ChannelInitializer<SocketChannel>() {
            @Override
            protected void initChannel(SocketChannel channel) {
                channel.config().setTcpNoDelay(true);
                channel.pipeline().addLast(new Cutter());
                addCodec(channel.pipeline(), name);
                channel.pipeline().addLast(isClient ? new Compare(name) : new Echo());
            }
        };
    }

    private static void addCodec(ChannelPipeline pipeline, String name) {
        switch (name) {
            case "length1", "length2", "length3", "length4", "length8" -> {
                int width = name.charAt(6) - '0';
                pipeline.addLast(new LengthFieldBasedFrameDecoder(LONGEST, 0, width, 0, width), new LengthFieldPrepender(width));
            }
            case "little2", "little3", "little4", "little8" -> {
                int width = name.charAt(6) - '0';
                pipeline.addLast(
                    new LengthFieldBasedFrameDecoder(ByteOrder.LITTLE_ENDIAN, LONGEST, 0, width, 0, width, true),
                    new LengthFieldPrepender(ByteOrder.LITTLE_ENDIAN, width, 0, false));
            }
            // The length counts itself.
            case "itself" -> pipeline.addLast(
                new LengthFieldBasedFrameDecoder(LONGEST, 0, 4, -4, 4), new LengthFieldPrepender(4, true));
            // The length is ten more than the payload.
            case "adjusted" -> pipeline.addLast(
                new LengthFieldBasedFrameDecoder(LONGEST, 0, 2, -10, 2), new LengthFieldPrepender(2, 10));
            // Two bytes, three of length, one byte, and the payload; frames keep their header, so nothing is put before them.
            case "kept" -> pipeline.addLast(new LengthFieldBasedFrameDecoder(LONGEST, 2, 3, 1, 0));
            // The same header, but the length counts the whole frame.
            case "whole" -> pipeline.addLast(new LengthFieldBasedFrameDecoder(LONGEST, 2, 3, -5, 0));
            // A header of 12 bytes with the length in the middle, stripped; the answer has zeros around its length.
            case "stripped" -> pipeline.addLast(new LengthFieldBasedFrameDecoder(LONGEST, 4, 4, 4, 12), new MiddleLength());
            case "line" -> pipeline.addLast(new LineBasedFrameDecoder(LONGEST), new Ending("\n"));
            case "crlf" -> pipeline.addLast(
                new DelimiterBasedFrameDecoder(LONGEST, Delimiters.lineDelimiter()), new Ending("\r\n"));
            case "nul" -> pipeline.addLast(new DelimiterBasedFrameDecoder(LONGEST, Delimiters.nulDelimiter()), new Ending("\0"));
            case "word" -> pipeline.addLast(new DelimiterBasedFrameDecoder(LONGEST, bytes("--end--")), new Ending("--end--"));
            // It finds the ends of objects by their braces; a line's end between them is white space to it.
            case "json" -> pipeline.addLast(new JsonObjectDecoder(LONGEST), new Ending("\n"));
            default -> throw new IllegalArgumentException(name);
        }
    }

    private static List<ByteBuf> messages(String name) {
        int longest =
            switch (name) {
                case "length1" -> 250;
                case "length2", "little2", "adjusted", "line", "crlf", "nul", "word", "json" -> 65_000;
                default -> 130_000;
            };
        List<String> texts = new ArrayList<>();
        for (int index = 0; index < 200; index++) {
            texts.add("{\"index\":" + index + ",\"text\":\"\u00e9\u20ac\ud83d\ude00 \\\" }{ ][\"}");
        }
        texts.add(name.equals("json") ? "[[],{},[{\"a\":[1,2.5e3,null,\"\\\\\"]}]]" : "");
        texts.add("[\"" + "x".repeat(longest) + "\"]");
        texts.add("{\"last\":true}");
        List<ByteBuf> messages = new ArrayList<>();
        for (String text : texts) {
            ByteBuf message = bytes(text);
            if (name.equals("kept") || name.equals("whole")) {
                ByteBuf header = Unpooled.buffer(6).writeShort(0xCAFE);
                header.writeMedium(message.readableBytes() + (name.equals("whole") ? 6 : 0)).writeByte(0x7E);
                message = Unpooled.wrappedBuffer(header, message);
            }
            messages.add(message);
        }
        return messages;
    }

    private static ByteBuf bytes(String text) {
        return Unpooled.copiedBuffer(text, StandardCharsets.UTF_8);
    }

    /** Puts a terminator behind each message. */
    private static final class Ending extends MessageToMessageEncoder<ByteBuf> {
        private final String terminator;

        Ending(String terminator) {
            this.terminator = terminator;
        }

        @Override
        protected void encode(ChannelHandlerContext context, ByteBuf message, List<Object> output) {
            output.add(message.retain());
            output.add(bytes(terminator));
        }
    }

    /** Puts four zeros, the length and four zeros before each message. */
    private static final class MiddleLength extends MessageToMessageEncoder<ByteBuf> {
        @Override
        protected void encode(ChannelHandlerContext context, ByteBuf message, List<Object> output) {
            output.add(Unpooled.buffer(12).writeInt(0).writeInt(message.readableBytes()).writeInt(0));
            output.add(message.retain());
        }
    }

    /** Writes in pieces that are cut anywhere. */
    private static final class Cutter extends ChannelOutboundHandlerAdapter {
        private final Random random = new Random(5);

        @Override
        public void write(ChannelHandlerContext context, Object message, ChannelPromise promise) {
            ByteBuf bytes = (ByteBuf) message;
            while (bytes.readableBytes() > 0 && random.nextInt(3) > 0) {
                int count = 1 + random.nextInt(random.nextBoolean() ? 12 : 5000);
                ByteBuf piece = bytes.readRetainedSlice(Math.min(count, bytes.readableBytes()));
                if (random.nextBoolean()) {
                    context.writeAndFlush(piece);
                } else {
                    context.write(piece);
                }
            }
            context.write(bytes, promise);
        }
    }

    /** Sends back what comes, and ends the connection when a message isn't one or is too long. */
    private static class Echo extends ChannelInboundHandlerAdapter {
        @Override
        public void channelRead(ChannelHandlerContext context, Object message) {
            context.write(message);
        }

        @Override
        public void channelReadComplete(ChannelHandlerContext context) {
            context.flush();
        }

        @Override
        public void exceptionCaught(ChannelHandlerContext context, Throwable cause) {
            // A peer that goes in the middle is no news either.
            if (!(cause instanceof DecoderException) && !(cause instanceof IOException)) {
                cause.printStackTrace();
            }
            context.flush();
            context.close();
        }
    }

    /** Sends all messages, and ends when they are back. */
    private static final class Compare extends ChannelInboundHandlerAdapter {
        private final String name;
        private final Queue<ByteBuf> waiting;
        private int count = 0;

        Compare(String name) {
            this.name = name;
            this.waiting = new ArrayDeque<>(messages(name));
        }

        @Override
        public void channelActive(ChannelHandlerContext context) {
            for (ByteBuf message : waiting) {
                context.writeAndFlush(message.retainedDuplicate());
            }
        }

        @Override
        public void channelRead(ChannelHandlerContext context, Object message) {
            ByteBuf bytes = (ByteBuf) message;
            if (!bytes.equals(waiting.remove())) {
                say(name + " DIFFERENT " + count);
                context.close();
            }
            bytes.release();
            count++;
            if (waiting.isEmpty()) {
                say(name + " SAME " + count);
                context.close();
            }
        }

        @Override
        public void channelInactive(ChannelHandlerContext context) {
            say(name + " CLOSED");
        }

        @Override
        public void exceptionCaught(ChannelHandlerContext context, Throwable cause) {
            say(name + " ERROR " + cause);
            context.close();
        }
    }

    private static synchronized void say(String fact) {
        System.out.println(fact);
        System.out.flush();
    }

    private static void endBy(int seconds) {
        start(() -> {
            Thread.sleep(seconds * 1000L);
            Runtime.getRuntime().halt(3);
        });
        start(() -> {
            while (System.in.read() >= 0) {}
            Runtime.getRuntime().halt(0);
        });
    }

    private interface Work {
        void run() throws Exception;
    }

    private static void start(Work work) {
        Thread thread = new Thread(() -> {
            try {
                work.run();
            } catch (Exception failure) {
                Runtime.getRuntime().halt(4);
            }
        });
        thread.setDaemon(true);
        thread.start();
    }
}
