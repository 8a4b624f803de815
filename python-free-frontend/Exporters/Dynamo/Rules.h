//===- Rules.h - what gives a graph back what dynamo took -------*- C++ -*-===//
//
// All rules, in the order in which restoreProgram applies them. Each explains
// operands by what the exporter recorded, and edits the graph accordingly.
//
//===----------------------------------------------------------------------===//

#ifndef DTC_FRONTEND_EXPORTERS_DYNAMO_RULES_H
#define DTC_FRONTEND_EXPORTERS_DYNAMO_RULES_H

#include "Exporters/Dynamo/Findings.h"
#include "Exporters/Dynamo/RecordedProgram.h"

namespace dtc::frontend {

/// Gives recurrent layers the parameters that their calls name.
void restoreRecurrent(RecordedProgram &program, Findings &findings);

/// Finds the tensors of the state dict that are one tensor.
void findTies(const RecordedProgram &program, Findings &findings);
/// Gives the tensor that several names of the state dict stand for the first of
/// these names, as PyTorch's named_parameters() does. For the graph in which
/// all nodes are in place.
void nameTies(RecordedProgram &program, Findings &findings);

/// Gives operands the tensors that their calls name, and products the biases
/// that the exporter left out. Numbers that merely equal a parameter get a
/// tensor of their own. Returns the parameters whose tensor an operand does not
/// read any more.
std::vector<std::string> restoreOperands(RecordedProgram &program,
                                         Findings &findings);

/// Computes again, from the parameter, what the exporter computed from it.
void restoreComputed(RecordedProgram &program, Findings &findings);

/// Adds a StopGradient before operands that the model detaches.
void stopGradients(RecordedProgram &program, Findings &findings);

/// Writes -inf where attention hides a key.
void hideKeys(RecordedProgram &program);

/// Makes a Clip of a Max or Min with a bound that is a number.
void restoreClamps(RecordedProgram &program);

/// Finds batch norms that the exporter merged with other layers, sums that it
/// left out, and parameters and buffers that the file lacks.
void findLosses(const RecordedProgram &program, Findings &findings);
/// Finds which of these parameters nothing reads any more. For the graph in
/// which all nodes are in place.
void findUnread(const RecordedProgram &program,
                llvm::ArrayRef<std::string> parameters, Findings &findings);

} // namespace dtc::frontend

#endif // DTC_FRONTEND_EXPORTERS_DYNAMO_RULES_H
