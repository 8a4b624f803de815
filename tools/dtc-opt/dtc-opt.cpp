//===- dtc-opt.cpp - runs any pass of dtc on IR ---------------------------===//

#include "dtc/Pipelines/Pipelines.h"
#include "mlir/Tools/mlir-opt/MlirOptMain.h"

int main(int argc, char **argv) {
  dtc::registerPasses();
  mlir::DialectRegistry registry;
  dtc::registerDialects(registry);
  return mlir::asMainReturnCode(
      mlir::MlirOptMain(argc, argv, "dtc pass driver\n", registry));
}
