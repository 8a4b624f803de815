//===- Main.cpp - entry of a training program -----------------------------===//
//
// A file of its own, so that a test with another `main` can link the rest.
//
//===----------------------------------------------------------------------===//

#include "Train.h"

int main(int argc, char **argv) {
  return dtc::rt::trainMain(dtc_program_v1, argc, argv);
}
