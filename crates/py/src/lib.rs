//! Python bindings: conversion only.
