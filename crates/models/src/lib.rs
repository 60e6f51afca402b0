//! Layers and models: configuration, parameter names and forward passes.
