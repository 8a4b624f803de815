//===- Models.h - the models that dtc-make-model writes ---------*- C++ -*-===//
//
// Each model is a function that returns the bytes of a file.
//
//===----------------------------------------------------------------------===//

#ifndef DTC_TEST_MODELS_H
#define DTC_TEST_MODELS_H

#include "ModelBuilder.h"

#include <map>

namespace dtc::test {

using model::Dims;
using model::Ints;
using model::ModelBuilder;
using model::Names;

struct File {
  std::string bytes;
  /// A second file to write beside the model. No file if the name is empty.
  std::string externalName = {}, externalBytes = {};

  File(std::string bytes) : bytes(std::move(bytes)) {}
  File(const ModelBuilder &builder)
      : bytes(builder.model.SerializeAsString()) {}
};

using ModelTable = std::map<std::string, File (*)()>;

/// Files that are not models, and models whose structure or data is broken.
void addBrokenModels(ModelTable &table);
void addHugeModels(ModelTable &table);
/// Functions that call functions, imported and refused.
void addFunctionModels(ModelTable &table);
/// Valid models that dtc refuses.
void addUnsupportedModels(ModelTable &table);
/// Models that dtc imports.
void addSoundModels(ModelTable &table);
/// Convolutions, pooling and batch norms, imported and refused.
void addImageModels(ModelTable &table);
/// Lookups at computed indices.
void addIndexModels(ModelTable &table);
/// Loops, imported and refused.
void addLoopModels(ModelTable &table);
/// Elements that masks select, imported and refused.
void addMaskModels(ModelTable &table);
/// Dropout and random numbers.
void addRandomModels(ModelTable &table);
/// LSTMs, imported and refused.
void addRecurrentModels(ModelTable &table);
/// Samples of images and sums of windows, refused.
void addSamplingModels(ModelTable &table);
/// Fourier transforms, refused.
void addSpectrumModels(ModelTable &table);

} // namespace dtc::test

#endif // DTC_TEST_MODELS_H
