//! Builds ggml from its pinned source and binds its C interface.
