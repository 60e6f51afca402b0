//! Reads model files: a catalogue of named tensors, read, converted and quantised on demand.
