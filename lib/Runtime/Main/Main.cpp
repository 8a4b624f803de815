//===- Main.cpp - entry of a training program -----------------------------===//
//
// A member of the archive of its own, so that a test with its own `main` links
// the rest.
//
//===----------------------------------------------------------------------===//

#include "Train.h"

int main(int argc, char **argv) {
  return dtc::rt::trainMain(dtc_program_v1, argc, argv);
}
