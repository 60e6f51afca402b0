//! Integration tests against reference data and images.
