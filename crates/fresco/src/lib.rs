//! Image generation and upscaling with diffusion models, as a library.
