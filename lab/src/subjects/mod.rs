//! Contexts, keys and operands that timings and reproductions share.
