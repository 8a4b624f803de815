//===- Architectures.h - the models that dtc-model writes -------*- C++ -*-===//
//
// Parameters have the names, shapes and starts that the models' own code gives
// them (transformers' GPT2LMHeadModel, LlamaForCausalLM and BertForMaskedLM,
// torch's Linear), so that checkpoints are exchanged as they are.
//
//===----------------------------------------------------------------------===//

#ifndef DTC_MODEL_ARCHITECTURES_H
#define DTC_MODEL_ARCHITECTURES_H

#include "Transformer.h"

namespace dtc::model {

/// GPT-2: layer norms before attention and MLP, learned positions, GELU, the
/// token embedding tied to the head. `sizes.kvHeads` is `sizes.heads`. With
/// `separate`, the projections of queries, keys and values are three.
Network buildGpt(const TransformerSizes &sizes, bool separate);

/// Llama: RMS norms, rotary positions, grouped-query attention, SwiGLU, no
/// biases, a head of its own.
Network buildLlama(const TransformerSizes &sizes);

/// BERT for masked tokens: token, position and segment embeddings, layer norms
/// behind attention and MLP, GELU, a transform before the head, which is tied
/// to the token embedding and has a bias. `sizes.kvHeads` is `sizes.heads`.
/// Second input `token_type_ids` [batch, context], int64, less than `segments`.
Network buildBert(const TransformerSizes &sizes, int64_t segments);

enum class Activation { Relu, Gelu, Tanh };

struct MlpSizes {
  /// Matrices, so at least 1; `width` is that of the values between them.
  int64_t layers, width;
  int64_t inputs, classes;
};

/// Input `input` [batch, inputs], output `logits` [batch, classes].
Network buildMlp(const MlpSizes &sizes, Activation activation);

} // namespace dtc::model

#endif // DTC_MODEL_ARCHITECTURES_H
