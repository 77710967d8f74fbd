use std::fs;

use posthaste_testkit::Certificate;

use super::*;

#[test]
fn a_certificate_and_its_key_are_read_from_pem_and_what_is_none_is_said() {
    let dir = tempfile::tempdir().unwrap();
    let put = |name: &str, text: &str| {
        let path = dir.path().join(name);
        fs::write(&path, text).unwrap();
        path
    };
    let (made, other) = (Certificate::of(&["localhost"]), Certificate::of(&["other"]));
    let words = "Bag Attributes\n    friendlyName: x\n";
    let cert = put("cert", &format!("{words}{}{}", made.pem, other.pem));
    // Key and certificate in one file, as some tools store them.
    let key = put("key", &format!("{words}{}{}", made.pem, made.key_pem));
    tls(&cert, &key).unwrap();

    let empty = put("empty", "");
    let torn = put("torn", "-----BEGIN CERTIFICATE-----\nAAAA\n");
    let foreign = put("foreign", &other.key_pem);
    for (cert, key, want) in [
        (&empty, &key, "empty holds no certificate"),
        (&cert, &empty, "empty holds no private key"),
        (&torn, &key, "torn cannot be read: "),
        (&cert, &torn, "torn cannot be read: "),
        (&cert, &foreign, "the certificate and its key do not work: "),
        (&dir.path().join("gone"), &key, "gone cannot be read: "),
    ] {
        let error = tls(cert, key).unwrap_err().to_string();
        assert!(error.contains(want) && !error.contains('\n'), "{error}");
    }
}
