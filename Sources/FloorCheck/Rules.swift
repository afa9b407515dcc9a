/// The rules of the house, as data. A target imports only floors below it; see CONTRIBUTING.md.
enum Rules {
    static let floors: [Floor] = [
        // Floor 0: values.
        Floor(
            0, "LifelineCore",
            imports: [.cLibrary(onlyIn: "CLibrary.swift")],
            never: [.suspension, .clocks, .randomness, .locks, .inputOutput, .systemCalls, .blocking]),

        // Floor 1: everything that lives, without a system call.
        Floor(
            1, "LifelineRuntime",
            imports: ["LifelineCore", "Synchronization", .cLibrary(onlyIn: "Lock.swift")],
            never: [.clocks, .randomness, .systemCalls, .blocking]),
        Floor(
            1, "LifelineJSON",
            imports: ["LifelineCore", "FoundationEssentials", Allowed("Foundation", onlyIn: "JSONCoding.swift")],
            never: [.clocks, .randomness, .locks, .inputOutput, .systemCalls, .blocking]),

        // Floor 2: the system, the network that never existed, and networks over another.
        Floor(
            2, "LifelineSockets",
            imports: ["LifelineCore", "LifelineRuntime", "CLifelineSystem", "Synchronization", .cLibrary],
            never: [.blocking]),
        Floor(
            2, "LifelineTesting",
            imports: ["LifelineCore", "LifelineRuntime", "CLifelineTesting", "Synchronization"],
            never: [.clocks, .randomness, .systemCalls, .blocking]),
        Floor(
            2, "LifelineTLS",
            imports: ["LifelineCore", "LifelineRuntime", "COpenSSL", "CLifelineTLS", "Synchronization", .cLibrary],
            never: [.clocks, .randomness, .systemCalls, .blocking]),
        Floor(
            2, "LifelineWebSocket",
            imports: ["LifelineCore", "LifelineRuntime", "CZlib", "Synchronization", .cLibrary],
            never: [.clocks, .randomness, .systemCalls, .blocking]),

        // Floor 3: names and thin mains.
        Floor(
            3, "Lifeline",
            imports: ["LifelineCore", "LifelineRuntime", "LifelineJSON", "LifelineSockets"],
            isUmbrella: true),
        Floor(3, "LifelineTool", imports: ["Lifeline", "LifelineTLS", .cLibrary]),
        Floor(
            3, "lifeline-bench",
            imports: [
                "Lifeline", "LifelineCore", "LifelineRuntime", "LifelineSockets", "LifelineTLS", "LifelineTesting", "CLifelineBench",
                .cLibrary,
            ]),
        Floor(3, "FloorCheck", imports: ["Foundation"]),

        // Beside the house: headers made of C structs.
        Floor(
            0, "HeaderGeneration", imports: [],
            never: [.suspension, .clocks, .randomness, .locks, .inputOutput, .systemCalls, .blocking]),
        Floor(3, "HeaderGenerator", imports: ["HeaderGeneration", "Foundation"]),
        Floor(3, "HeaderExample", imports: ["Lifeline"]),

        Floor(.plugins, "CheckFloors", imports: ["Foundation", "PackagePlugin"]),
        Floor(.plugins, "GenerateHeaders", imports: ["Foundation", "PackagePlugin"]),

        // Tests may import any module from outside the house; of the house's own only these.
        Floor(.tests, "LifelineCoreTests", imports: ["LifelineCore"]),
        Floor(.tests, "LifelineJSONTests", imports: ["Lifeline", "LifelineTesting"]),
        Floor(.tests, "LifelineRuntimeTests", imports: ["LifelineCore", "LifelineRuntime", "LifelineTesting"]),
        Floor(
            .tests, "LifelineSocketsTests",
            imports: [
                "Lifeline", "LifelineCore", "LifelineRuntime", "LifelineSockets", "LifelineTesting", "CLifelineSystem",
            ]),
        Floor(.tests, "LifelineTestingTests", imports: ["LifelineCore", "LifelineRuntime", "LifelineTesting"]),
        Floor(
            .tests, "LifelineTLSTests",
            imports: [
                "Lifeline", "LifelineCore", "LifelineRuntime", "LifelineSockets", "LifelineTLS", "LifelineTesting", "COpenSSL",
                "CLifelineTLS",
            ]),
        Floor(.tests, "SimulationTests", imports: ["LifelineCore", "LifelineRuntime", "LifelineTLS", "LifelineTesting"]),
        Floor(.tests, "Fuzz", imports: ["LifelineCore", "LifelineJSON", "LifelineTesting"]),
        Floor(
            .tests, "InteropTests",
            imports: ["Lifeline", "LifelineCore", "LifelineJSON", "LifelineRuntime", "LifelineSockets", "LifelineTLS"]),
        Floor(
            .tests, "HeaderGenerationTests",
            imports: ["HeaderGeneration", "HeaderExample", "Lifeline", "LifelineTesting"]),
        Floor(.tests, "ReadmeTests", imports: ["Lifeline", "LifelineTLS", "LifelineTesting"]),
        Floor(.tests, "ToolTests", imports: ["Lifeline", "LifelineTLS"]),
    ]

    /// C targets: they hold no Swift, and only the targets that name them import them.
    static let cTargets: Set<String> = ["CLifelineSystem", "CLifelineTesting", "CLifelineBench", "CLifelineTLS", "COpenSSL", "CZlib"]

    /// The C library's names on the platforms that Swift runs on.
    static let cLibraryNames: Set<String> = ["Glibc", "Darwin", "Musl", "Android", "Bionic", "WASILibc", "ucrt"]

    /// What no file under `Sources` or `Plugins` does, on any floor.
    static let neverInSources: [BanList] = [.sleeping, .detaching]

    /// What no test does.
    static let neverInTests: [BanList] = [.sleeping, .blocking, .realSleeps, .randomness]

    /// What the manifest doesn't hold.
    static let neverInManifest: [BanList] = [.unsafeFlags]

    /// The files that may start an unstructured `Task`.
    static let mayStartTasks: [Exemption] = [
        Exemption(
            target: "LifelineRuntime", file: "Supervisor*",
            reason: "start() runs run() in the product's one unstructured task; stop() cancels and awaits it"),
        Exemption(
            target: "LifelineTesting", file: "Simulation",
            reason: "the body of a simulation starts as a task that prefers the virtual loop"),
    ]
}
