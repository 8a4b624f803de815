//===- Architectures.h - the models that dtc-model writes -------*- C++ -*-===//
//
// Parameters have the names, shapes and initial values of the models' own code
// (transformers' GPT2LMHeadModel, LlamaForCausalLM and BertForMaskedLM, torch's
// Linear, torchvision's ResNet), so that checkpoints are interchangeable.
//
//===----------------------------------------------------------------------===//

#ifndef DTC_MODEL_ARCHITECTURES_H
#define DTC_MODEL_ARCHITECTURES_H

#include "Transformer.h"

namespace dtc::model {

/// GPT-2: layer norms before attention and MLP, learned positions, GELU, the
/// token embedding tied to the head. `sizes.kvHeads` is `sizes.heads`. With
/// `separate`, queries, keys and values have three projections.
Network buildGpt(const TransformerSizes &sizes, bool separate);

/// Llama: RMS norms, rotary positions, grouped-query attention, SwiGLU, no
/// biases, an untied head.
Network buildLlama(const TransformerSizes &sizes);

/// BERT for masked tokens: token, position and segment embeddings, layer norms
/// behind attention and MLP, GELU, a transform before the head, which is tied
/// to the token embedding and has a bias. `sizes.kvHeads` is `sizes.heads`.
/// Second input `token_type_ids` [batch, context], int64, less than `segments`.
Network buildBert(const TransformerSizes &sizes, int64_t segments);

enum class Activation { Relu, Gelu, Tanh };

struct MlpSizes {
  /// Number of matrices, at least 1; `width` is the width of the values between
  /// them.
  int64_t layers, width;
  int64_t inputs, classes;
};

/// Input `input` [batch, inputs], output `logits` [batch, classes].
Network buildMlp(const MlpSizes &sizes, Activation activation);

struct ResnetSizes {
  /// Convolutions and the last matrix on the longest path: see isResnetDepth.
  int64_t layers;
  /// Channels of the first stage; each stage doubles them.
  int64_t width;
  /// Height and width of an image, and its channels.
  int64_t image, channels;
  int64_t classes;
};

/// Returns whether there is a ResNet of this depth: 18, 34, 50, 101, 152.
bool isResnetDepth(int64_t layers);

/// Input `input` [batch, channels, image, image], output `logits` [batch,
/// classes]. The stem is a 7x7 convolution of stride 2 and a max pool; for
/// images up to 64 pixels a 3x3 convolution of stride 1.
Network buildResnet(const ResnetSizes &sizes);

} // namespace dtc::model

#endif // DTC_MODEL_ARCHITECTURES_H
