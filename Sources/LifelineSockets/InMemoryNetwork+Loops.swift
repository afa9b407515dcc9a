public import LifelineRuntime

extension InMemoryNetwork {
    /// A network in memory in real time, on `loops`; by default on those that the process shares.
    ///
    /// For a server and its clients in one process without a socket. For tests, LifelineTesting has the same network in virtual time.
    public convenience init(loops: EventLoops = .shared) {
        self.init(loops: loops.loops, keeping: loops)
    }
}
