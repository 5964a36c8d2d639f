//! Generates Rust from the messages in proto/. protox reads them, so there is no need for protoc.

use std::path::{Path, PathBuf};

fn main() -> Result<(), Box<dyn std::error::Error>> {
    println!("cargo:rerun-if-changed=proto");
    let mut files = Vec::new();
    collect(Path::new("proto"), &mut files)?;
    let mut config = prost_build::Config::new();
    config.enable_type_names(); // for the names in google.protobuf.Any
    tonic_prost_build::configure()
        .build_server(false)
        .include_file("messages.rs")
        .compile_fds_with_config(protox::compile(files, ["proto"])?, config)?;
    Ok(())
}

fn collect(folder: &Path, files: &mut Vec<PathBuf>) -> std::io::Result<()> {
    for entry in std::fs::read_dir(folder)? {
        let path = entry?.path();
        if path.is_dir() {
            collect(&path, files)?;
        } else if path.extension().is_some_and(|ending| ending == "proto") {
            files.push(path);
        }
    }
    Ok(())
}
