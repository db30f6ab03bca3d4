//! tailback-scenario
