//! tailback-net
