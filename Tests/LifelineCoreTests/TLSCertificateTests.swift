import LifelineCore
import Testing

struct TLSCertificateTests {
    @Test(
        arguments: [
            (0, "1970-01-01"), (-1, "1969-12-31"), (951_782_400, "2000-02-29"), (4_102_444_800, "2100-01-01"),
            (4_107_542_399, "2100-02-28"),
            (4_107_542_400, "2100-03-01"), (.min, "-292277022657-01-27"), (Int64.max, "292277026596-12-04"),
        ] as [(Int64, String)])
    func daysAreThoseOfTheCalendar(seconds: Int64, day: String) {
        let certificate = TLSCertificate(
            subject: "CN=a", issuer: "CN=b", names: ["a.test"], serialNumber: "1", notBefore: seconds, notAfter: seconds, der: [],
            fingerprint: "", publicKeyHash: "")
        #expect(certificate.description == "“CN=a” by “CN=b” for a.test, valid from \(day) to \(day)")
    }
}
