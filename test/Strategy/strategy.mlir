// RUN: not dtc-opt %s --split-input-file --dtc-parallel-phase 2>&1 | FileCheck %s

// CHECK: error: dtc.strategy has dp = "two", which is of another type
module attributes {dtc.strategy = {dp = "two"}} {}

// -----

// CHECK: error: dtc.strategy has 'dpp', which is no option of dtc that a plan depends on
module attributes {dtc.strategy = {dpp = 2 : i64}} {}

// -----

// CHECK: error: dtc.strategy is 2 : i64, expected a dictionary of options
module attributes {dtc.strategy = 2 : i64} {}
