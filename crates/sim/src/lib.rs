//! tailback-sim
