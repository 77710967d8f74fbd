//! The certificates that are trusted. The TLS library reads them at the first connection, and without
//! a file in their variable none can be made: every webhook and every relay would then fail.

use posthaste_runtime::{ConfigError, Env};
use rustls::pki_types::CertificateDer;
use rustls::pki_types::pem::PemObject as _;

/// The variable that names them.
const VARIABLE: &str = "SSL_CERT_FILE";

/// Checks that the file of certificates is one, where a variable names it.
///
/// # Errors
/// When it cannot be read, or holds no certificate.
pub fn check(vars: &Env) -> Result<(), ConfigError> {
    let Some(file) = vars.get(VARIABLE) else {
        return Ok(());
    };
    let wrong = |why: String| ConfigError::Unreadable(VARIABLE.to_owned(), why);
    let bytes =
        std::fs::read(&file).map_err(|e| wrong(format!("the file {file} cannot be read: {e}")))?;
    match CertificateDer::pem_slice_iter(&bytes).next() {
        Some(Ok(_)) => Ok(()),
        Some(Err(_)) | None => Err(wrong(format!("the file {file} holds no certificate (PEM)"))),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn checked(file: String) -> Result<(), String> {
        let vars = Env::new(move |_| Some(file.clone()));
        check(&vars).map_err(|error| error.to_string())
    }

    #[test]
    fn a_file_without_a_certificate_is_refused() {
        let dir = tempfile::tempdir().unwrap();
        let file = dir.path().join("trusted.pem");
        let named = file.to_str().unwrap().to_owned();
        assert_eq!(check(&Env::new(|_| None)), Ok(()));
        for (text, why) in [
            (None, "cannot be read"),
            (Some("nothing"), "no certificate"),
        ] {
            if let Some(text) = text {
                std::fs::write(&file, text).unwrap();
            }
            let said = checked(named.clone()).unwrap_err();
            assert!(said.contains(VARIABLE) && said.contains(why), "{said}");
            assert!(said.contains(&named) && !said.contains('\n'), "{said}");
        }
        let pem = "-----BEGIN CERTIFICATE-----\nMAA=\n-----END CERTIFICATE-----\n";
        std::fs::write(&file, pem).unwrap();
        assert_eq!(checked(named), Ok(()));
    }
}
