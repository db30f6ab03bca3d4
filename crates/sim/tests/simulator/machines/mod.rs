//! Hosts with a modelled machine, end to end: what the lambda-rings study found of one receiver.

mod common;
mod datagrams;
mod flows;
