//===- Rewrites.h - rewrites of single functions ----------------*- C++ -*-===//
//
// Each undoes one habit of an exporter, in a file of its own name.
// Exporters.cpp says which exporter each is for.
//
//===----------------------------------------------------------------------===//

#ifndef DTC_FRONTEND_EXPORTERS_REWRITES_H
#define DTC_FRONTEND_EXPORTERS_REWRITES_H

#include "Exporters/RestoredTensors.h"
#include "Support/TensorData.h"

namespace dtc::frontend {

/// Turns weights into initializers. Paddle's exporter writes them as Constant
/// nodes. If a file has no float initializer, the float tensors of such nodes
/// become initializers, unless an exporter invented their names.
void hoistWeights(onnx::GraphProto &graph);

/// If a model uses a batch norm several times with the same weights, exporters
/// write that each use reads the running statistics that the use before it has
/// updated:
///
///   %y1, %mean1, %var1 = BatchNormalization(%x1, %w, %b, %mean, %var)
///   %y2                = BatchNormalization(%x2, %w, %b, %mean1, %var1)
///
/// This rewrite gives each use the initializers themselves, which dtc updates
/// in order. `hasRecord`: copies by Identity are also such statistics. Without
/// a record they are other tensors that were equal.
void shareStatistics(onnx::GraphProto &graph, bool hasRecord);

/// Restores the parameters of recurrent layers. The name of a node tells the
/// module, '/rnn/LSTM_1'. Parameters get PyTorch's names in that module,
/// 'rnn.weight_ih_l1'.
void nameRecurrent(onnx::GraphProto &graph, TensorReader &reader,
                   RestoredTensors &result);

/// A recurrent layer of ONNX adds two biases. One of Keras has one bias, and
/// tf2onnx writes zeros for the second. If both were trained, their sum would
/// move twice as far. So this rewrite keeps the second at zero:
///
///   LSTM(x, W, R, B)   ->   %first = Slice(B); %b = Pad(%first);
///                           LSTM(x, W, R, %b)
///
/// Only for files of tf2onnx: layers of PyTorch have both biases.
void freezeSecondBias(onnx::GraphProto &graph, TensorReader &reader);

/// Tools that simplify models store equal tensors once: in a new model the ones
/// of a batch norm's scale, of its variance and of the next norm are one
/// tensor. If another node reads the running statistics of a norm in another
/// role, the norm gets its own names for its tensors. Identity nodes define
/// them, as PyTorch's exporter does for merged tensors. Norms that share all
/// four tensors are one module, and so are calls of one path that share their
/// statistics.
void splitSharedNorms(onnx::GraphProto &graph);

/// PyTorch's TorchScript exporter transposes the weights of linear layers, and
/// stores equal results once, such as those of layers that start as copies of
/// one another. If nodes of several modules multiply by a weight with an
/// invented name, each module gets its own initializer.
void splitSharedWeights(onnx::GraphProto &graph);

/// Gives nodes, also those of inner graphs, the attributes of Annotations.h
/// that their recorded calls tell:
///
///   Gather(w, i)     %embedding = embedding(%w, %i, 0)
///   ->  Gather(w, i) {dtc.padding_idx = 0}
void annotateNodes(onnx::GraphProto &graph);

} // namespace dtc::frontend

#endif // DTC_FRONTEND_EXPORTERS_REWRITES_H
