//! Never built: this package only pins where the source of ggml comes from.
