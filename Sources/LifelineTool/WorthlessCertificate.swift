import Lifeline
import LifelineTLS

/// The certificate of the demo's servers, so that the demo needs no files. It is worth nothing: its private key stands here, for everybody
/// to read. It is for `localhost` and 127.0.0.1, signed by itself, and valid until 2125.
enum WorthlessCertificate {
    static func identity() throws -> TLSIdentity { try TLSIdentity(certificates: Bytes(certificate), key: Bytes(key)) }

    /// What the demo's clients know of it: the SHA-256 of its public key.
    static let pin = "UWErtfh0JT7j2RaSsARMi49fV75EaUvcepZO0ia2xaI="

    static let certificate = """
        -----BEGIN CERTIFICATE-----
        MIIByDCCAW6gAwIBAgIUN7+VN0e4OqFfLPx+wg8IRa0pFacwCgYIKoZIzj0EAwIw
        OzElMCMGA1UECgwcV29ydGhsZXNzOiB0aGUga2V5IGlzIHB1YmxpYzESMBAGA1UE
        AwwJbG9jYWxob3N0MCAXDTI1MDEwMTAwMDAwMFoYDzIxMjUwMTAxMDAwMDAwWjA7
        MSUwIwYDVQQKDBxXb3J0aGxlc3M6IHRoZSBrZXkgaXMgcHVibGljMRIwEAYDVQQD
        DAlsb2NhbGhvc3QwWTATBgcqhkjOPQIBBggqhkjOPQMBBwNCAAQe9w0MfUzAWLsT
        iRdKRH9AHsDyJHIKUXSo7gbvCsdf2Otk3DA/BVdBGXNPPI25Qcl8EIerKLYr88EQ
        yUiG3c7no04wTDAPBgNVHRMBAf8EBTADAQH/MB0GA1UdDgQWBBQL7xJFfHmjuLb9
        F5e910jb5tpoGjAaBgNVHREEEzARgglsb2NhbGhvc3SHBH8AAAEwCgYIKoZIzj0E
        AwIDSAAwRQIgDDKW6aoL3XqLSQPc1VPDsBISBDMuZU46A/qu9c1G758CIQDRxArW
        5SPECc2I5LEIUTg9XGBAJJWt9SjIBKE4ystr8g==
        -----END CERTIFICATE-----
        """

    private static let key = """
        -----BEGIN PRIVATE KEY-----
        MIGHAgEAMBMGByqGSM49AgEGCCqGSM49AwEHBG0wawIBAQQg6/wgMpfw8IWtxdf8
        JIYZej2zZuypu0RkYY2nxzMhg4WhRANCAAQe9w0MfUzAWLsTiRdKRH9AHsDyJHIK
        UXSo7gbvCsdf2Otk3DA/BVdBGXNPPI25Qcl8EIerKLYr88EQyUiG3c7n
        -----END PRIVATE KEY-----
        """
}
