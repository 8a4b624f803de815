// RUN: dtc-opt %s --split-input-file --verify-diagnostics

// expected-error@below {{found phase 'sideways', expected one of inputs, prologue, forward, backward, weight, reduce, update}}
module attributes {dtc.phase = #dtc.phase<sideways>} {}
