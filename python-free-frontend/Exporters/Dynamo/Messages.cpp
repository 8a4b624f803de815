//===- Messages.cpp - the sentences of findings ---------------------------===//
//
// One sentence for each kind of finding, in the order in which they are
// printed.
//
//===----------------------------------------------------------------------===//

#include "Exporters/Dynamo/Findings.h"

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/StringExtras.h"

using namespace llvm;

namespace dtc::frontend {

namespace {
enum Level { Warning, Note, Detail };

struct Sentence {
  Finding kind;
  Level level;
  /// "{}" stands for the subjects.
  StringLiteral text;
};

constexpr Sentence sentences[] = {
    {Finding::NamedLikeInput, Warning,
     "an input of the model and a tensor of its state dict have the same name: "
     "{}. Rename one of them in the model"},
    {Finding::OtherShape, Warning,
     "the exporter's metadata and the file disagree on shapes: {}. Check that "
     "the file was not edited"},
    {Finding::FoldedNorm, Warning,
     "the exporter merged batch norms with the layers before ({}): the model "
     "trains without them; export with model.train() and optimize=False"},
    {Finding::DroppedSum, Warning,
     "the exporter left out a sum before {}, as it does where the number that "
     "is added is at most 1e-8. If that number keeps a divisor, a root or a "
     "logarithm from zero, losses may become infinite: export with "
     "optimize=False"},
    {Finding::LostCopy, Warning,
     "the exporter merged equal calls, and the file does not have these "
     "tensors: {}. If they are copies of parameters, export with "
     "optimize=False"},
    {Finding::LikelyMoved, Warning,
     "the exporter replaced parameters by copies, slices or reshapes of them "
     "({}). dtc trains these, which gives PyTorch's result only if no "
     "arithmetic was involved. Export with optimize=False to be certain"},
    {Finding::PerhapsMoved, Warning,
     "the exporter replaced some of these parameters by copies, slices or "
     "reshapes of them ({}). dtc trains these, which gives PyTorch's result "
     "only if no arithmetic was involved. Export with optimize=False to be "
     "certain"},
    {Finding::Doubtful, Warning,
     "the exporter replaced calls by their results ({}). If these depend on "
     "parameters or on random numbers, the program differs from PyTorch: "
     "export with optimize=False"},
    {Finding::TrainedInPlace, Warning,
     "the exporter replaced arithmetic with parameters by its results ({}). "
     "dtc trains the results, which is not what PyTorch does: export with "
     "optimize=False"},
    {Finding::UnknownDetach, Warning,
     "the model detaches an operand of {}, and the file does not say which "
     "one. Gradients pass where PyTorch stops them: export with "
     "optimize=False"},
    {Finding::MergedDetach, Warning,
     "the exporter merged calls that differ at most in detached operands. The "
     "file does not say which call read {}. Gradients may pass where PyTorch "
     "stops them: export with optimize=False"},
    {Finding::Missing, Warning,
     "the file does not have these parameters, and dtc does not train them: "
     "{}. Either the model does not use them, or the exporter merged calls "
     "that read equal parameters, or computed what uses them: export with "
     "optimize=False"},
    {Finding::Unread, Warning,
     "dtc does not train these parameters, because nothing uses them: {}. The "
     "exporter may have merged a use with that of an equal parameter or "
     "number: export with optimize=False"},
    {Finding::Moved, Note,
     "the exporter replaced parameters by copies, slices or reshapes of them "
     "({}). dtc trains the elements that the model uses. tools/export.py keeps "
     "the whole parameters"},
    {Finding::Recomputed, Detail,
     "parameters replace results that the exporter computed from them: {}"},
    {Finding::Named, Detail,
     "parameters have their names back from the exporter's metadata: {}"},
    {Finding::Apart, Detail,
     "parameters that the exporter merged with equal ones are separate "
     "again: {}"},
    {Finding::ZeroBias, Detail,
     "biases of zeros that the exporter left out are back: {}"},
};

std::string listFirst(ArrayRef<std::string> subjects) {
  constexpr size_t limit = 3;
  std::string text = join(subjects.take_front(limit), ", ");
  if (subjects.size() > limit)
    text += " and " + std::to_string(subjects.size() - limit) + " more";
  return text;
}
} // namespace

RestoredTensors Findings::finish() {
  for (const Sentence &sentence : sentences) {
    const std::vector<std::string> &list = subjects[sentence.kind];
    if (list.empty())
      continue;
    auto [before, after] = sentence.text.split("{}");
    std::string text = before.str() + listFirst(list) + after.str();
    auto &messages = sentence.level == Warning ? tensors.warnings
                     : sentence.level == Note  ? tensors.notes
                                               : tensors.details;
    messages.push_back(std::move(text));
  }
  return std::move(tensors);
}

} // namespace dtc::frontend
