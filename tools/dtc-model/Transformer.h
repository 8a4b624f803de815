//===- Transformer.h - common parts of transformers -------------*- C++ -*-===//
//
// Sizes, and attention.
//
//===----------------------------------------------------------------------===//

#ifndef DTC_MODEL_TRANSFORMER_H
#define DTC_MODEL_TRANSFORMER_H

#include "Network.h"

namespace dtc::model {

struct TransformerSizes {
  int64_t layers, width, heads;
  /// Heads of keys and values; each serves heads / kvHeads heads.
  int64_t kvHeads;
  int64_t vocab, context;
  /// Width of the feed-forward layer.
  int64_t hidden;
  /// Dropout probability of embeddings, attention weights, and values added to
  /// the residual.
  float dropout = 0;

  int64_t headWidth() const { return width / heads; }
};

/// Input `input_ids` [batch, context], int64.
std::string addTokens(Network &network, const TransformerSizes &sizes);

/// The causal mask [1, 1, context, context]: the lowest float above the
/// diagonal, 0 elsewhere. Nodes compute it from constants, so that the file
/// stays small.
std::string causalMask(Network &network, int64_t context);

/// From [batch, context, heads * width] to [batch, heads, context, width].
std::string splitHeads(Network &network, const std::string &path,
                       const std::string &x, int64_t heads, int64_t width);

/// Dropout in training mode; x itself if its probability is 0.
std::string dropOut(Network &network, const std::string &path,
                    const TransformerSizes &sizes, const std::string &x);

/// softmax(q kᵀ / sqrt(width) + mask) v of operands with heads, as [batch,
/// context, heads * width]. Without a mask, all positions attend to all.
std::string attend(Network &network, const std::string &path,
                   const TransformerSizes &sizes, const std::string &q,
                   std::string k, std::string v, const std::string &mask);

/// Output `logits` [batch, context, vocab].
void addLogits(Network &network, const TransformerSizes &sizes,
               const std::string &logits);

} // namespace dtc::model

#endif // DTC_MODEL_TRANSFORMER_H
