//! Signs mails for a verifier that is not ours: `sign FOLDER MAIL…` writes each signed mail into
//! the folder, and beside them `record.txt` with what the domain has to publish.

use std::error::Error;
use std::path::Path;

use posthaste_identity::{KeyPair, Signer};

fn main() -> Result<(), Box<dyn Error>> {
    let mut args = std::env::args_os().skip(1);
    let folder = args.next().ok_or("which folder?")?;
    let folder = Path::new(&folder);
    let pair = KeyPair::generate()?;
    let signer = Signer::new("example.com", "s1", &pair.private)?;
    let record = format!("v=DKIM1; k=rsa; p={}", pair.public);
    std::fs::write(folder.join("record.txt"), record)?;
    for mail in args {
        let name = Path::new(&mail).file_name().ok_or("not a file")?;
        std::fs::write(folder.join(name), signer.sign(&std::fs::read(&mail)?)?)?;
    }
    Ok(())
}
