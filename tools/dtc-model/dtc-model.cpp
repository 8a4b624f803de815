//===- dtc-model.cpp - writes models of standard architectures ------------===//
//
// dtc-model gpt|llama|bert|mlp|resnet SIZES -o FILE: models of any size, for
// tests and for plans of machines that the user does not have.
//
//===----------------------------------------------------------------------===//

#include "Architectures.h"
#include "ModelFile.h"
#include "dtc/Support/EndingSignals.h"
#include "dtc/Support/Version.h"

#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/CommandLine.h"
#include "llvm/Support/Format.h"
#include "llvm/Support/InitLLVM.h"
#include "llvm/Support/MathExtras.h"
#include "llvm/Support/WithColor.h"
#include <csignal>

using namespace dtc::model;
namespace cl = llvm::cl;

namespace {

int fail(const llvm::Twine &message) {
  llvm::WithColor::error(llvm::errs(), "dtc-model") << message << "\n";
  return 1;
}

const char overview[] =
    "writes ONNX models of standard architectures\n\n"
    "Without weights (the default) a file is small for any size of the model, "
    "and dtc chooses the weights:\n\n"
    "  dtc-model gpt --layers 6 --width 512 --heads 8 -o g.onnx\n"
    "  dtc g.onnx --batch 8 --init normal -o g.train\n"
    "  ./g.train --data synthetic --steps 3\n\n"
    "The initializers then have no data. Other ONNX tools refuse such a file; "
    "for these, use --weights normal.\n";

//===--- Options ----------------------------------------------------------===//

cl::SubCommand gpt("gpt", "GPT-2 (default: GPT-2 small, 124 M parameters)");
cl::SubCommand llama("llama", "Llama (default: TinyLlama, 1.1 G parameters)");
cl::SubCommand bert("bert", "BERT (default: BERT base, 110 M parameters)");
cl::SubCommand mlp("mlp", "Fully connected layers");
cl::SubCommand resnet("resnet",
                      "ResNet (default: ResNet-50, 25.6 M parameters)");
cl::SubCommandGroup transformers{&gpt, &llama, &bert};
cl::SubCommandGroup classifiers{&mlp, &resnet};
cl::SubCommandGroup all{&gpt, &llama, &bert, &mlp, &resnet};
cl::OptionCategory category("Options");

/// A number from 1 to `limit`; limits keep computed sizes within 63 bits.
struct Size {
  template <typename Sub>
  Size(const char *name, const char *description, Sub &sub,
       int64_t limit = 1 << 20)
      : option(llvm::StringRef(name), cl::value_desc("N"),
               cl::desc(description), cl::sub(sub), cl::cat(category)),
        limit(limit) {}

  bool isGiven() const { return option.getNumOccurrences() > 0; }
  int64_t getOr(int64_t standard) const {
    return isGiven() ? int64_t(option) : standard;
  }

  cl::opt<int64_t> option;
  int64_t limit;
};

Size layers("layers",
            "Layers (default: gpt 12, llama 22, bert 12, mlp 3, resnet 50; "
            "resnet has basic blocks at 18 and 34, bottlenecks at 50, 101 and "
            "152)",
            all, 1 << 16);
Size width("width",
           "Width of the values between layers (default: gpt 768, llama 2048, "
           "bert 768, mlp 256); for resnet, the channels of the first blocks "
           "(default 64)",
           all);
Size heads("heads", "Attention heads (default: gpt 12, llama 32, bert 12)",
           transformers);
Size kvHeads("kv-heads",
             "Key and value heads (default: 4 if that divides --heads, "
             "else --heads)",
             llama);
Size vocab("vocab",
           "Number of tokens (default: gpt 50257, llama 32000, bert 30522)",
           transformers);
Size context("context",
             "Tokens in a sample (default: gpt 1024, llama 2048, bert 512)",
             transformers);
Size hidden("hidden",
            "Width inside feed-forward layers (default: gpt and bert 4 x "
            "width, llama 8/3 x width, rounded up to a multiple of 256)",
            transformers);
Size segments("segments", "Number of segments (default 2)", bert);
Size inputs("inputs", "Numbers in a sample (default 64)", mlp);
Size image("image",
           "Height and width of an image (default 224). Up to 64 the first "
           "layer is that for CIFAR: 3x3 of stride 1 and no max pool, instead "
           "of 7x7 of stride 2 and a max pool",
           resnet);
Size channels("channels", "Channels of an image (default 3)", resnet);
Size classes("classes", "Number of classes (default: mlp 10, resnet 1000)",
             classifiers);

cl::opt<std::string> qkv("qkv", cl::value_desc("fused|separate"),
                         cl::init("fused"), cl::sub(gpt), cl::cat(category),
                         cl::desc("Query, key and value projections: one "
                                  "matrix as in GPT-2 (default), or three"));
cl::opt<float> dropout("dropout", cl::value_desc("P"), cl::init(0),
                       cl::sub(gpt), cl::cat(category),
                       cl::desc("Dropout probability of embeddings, "
                                "attention and residuals (default 0; 0.1 in "
                                "GPT-2)"));
cl::opt<std::string>
    activation("activation", cl::value_desc("relu|gelu|tanh"), cl::init("relu"),
               cl::sub(mlp), cl::cat(category),
               cl::desc("Activation between layers (default relu)"));
cl::opt<std::string> outputPath("o", cl::value_desc("FILE"), cl::Required,
                                cl::sub(all), cl::cat(category),
                                cl::desc("Output file of the model"));
cl::opt<std::string>
    weights("weights", cl::value_desc("none|normal"), cl::init("none"),
            cl::sub(all), cl::cat(category),
            cl::desc("Write no weights (default), or the random initial "
                     "weights of the architecture's own code: gpt N(0, 0.02), "
                     "smaller before residuals; llama and bert N(0, 0.02); "
                     "mlp and resnet Kaiming's"));
cl::opt<uint64_t> seed("seed", cl::value_desc("N"), cl::init(0), cl::sub(all),
                       cl::cat(category),
                       cl::desc("Seed of the weights (default 0)"));
cl::opt<bool> externalData(
    "external-data", cl::sub(all), cl::cat(category),
    cl::desc("Put weights into FILE.data; weights above 1 GiB always go "
             "there"));

//===--- Checks -----------------------------------------------------------===//

int checkChoice(const cl::opt<std::string> &option,
                std::initializer_list<llvm::StringRef> choices) {
  if (llvm::is_contained(choices, option))
    return 0;
  return fail("--" + option.ArgStr + " is '" + option + "', expected " +
              llvm::join(choices, " or "));
}

int checkOptions() {
  for (const Size *size :
       {&layers, &width, &heads, &kvHeads, &vocab, &context, &hidden, &segments,
        &inputs, &image, &channels, &classes})
    if (size->isGiven() && (size->option < 1 || size->option > size->limit))
      return fail("--" + size->option.ArgStr + " is " +
                  llvm::Twine(size->option) + ", expected 1 to " +
                  llvm::Twine(size->limit));
  if (resnet && layers.isGiven() && !isResnetDepth(layers.option))
    return fail("--layers is " + llvm::Twine(layers.option) +
                ", expected 18, 34, 50, 101 or 152");
  if (!(dropout >= 0 && dropout < 1))
    return fail("--dropout is " + std::to_string(dropout) +
                ", expected a number from 0 to below 1");
  if (externalData && weights == "none")
    return fail(
        "--external-data needs weights; expected --weights normal with it");
  return checkChoice(weights, {"none", "normal"}) ||
         checkChoice(qkv, {"fused", "separate"}) ||
         checkChoice(activation, {"relu", "gelu", "tanh"});
}

/// Rotary positions rotate pairs of a head's elements.
int checkHeads(const TransformerSizes &sizes) {
  int64_t unit = llama ? 2 * sizes.heads : sizes.heads;
  if (sizes.width % unit) {
    int64_t above = llvm::alignTo(sizes.width, unit);
    std::string below =
        above > unit ? std::to_string(above - unit) + " or " : "";
    return fail("--width is " + llvm::Twine(sizes.width) +
                ", expected a multiple of " + (llama ? "twice " : "") +
                "--heads " + llvm::Twine(sizes.heads) + ", such as " + below +
                llvm::Twine(above));
  }
  if (sizes.heads % sizes.kvHeads == 0)
    return 0;
  std::string divisors;
  for (int64_t divisor = 1; divisor <= sizes.heads; ++divisor)
    if (sizes.heads % divisor == 0)
      divisors += (divisors.empty() ? "" : ", ") + std::to_string(divisor);
  return fail("--kv-heads is " + llvm::Twine(sizes.kvHeads) +
              ", expected a divisor of --heads " + llvm::Twine(sizes.heads) +
              ": " + divisors);
}

//===--- Models -----------------------------------------------------------===//

TransformerSizes getGptSizes() {
  TransformerSizes sizes;
  sizes.layers = layers.getOr(12);
  sizes.width = width.getOr(768);
  sizes.heads = sizes.kvHeads = heads.getOr(12);
  sizes.vocab = vocab.getOr(50257);
  sizes.context = context.getOr(1024);
  sizes.hidden = hidden.getOr(4 * sizes.width);
  sizes.dropout = dropout;
  return sizes;
}

TransformerSizes getLlamaSizes() {
  TransformerSizes sizes;
  sizes.layers = layers.getOr(22);
  sizes.width = width.getOr(2048);
  sizes.heads = heads.getOr(32);
  sizes.kvHeads = kvHeads.getOr(sizes.heads % 4 ? sizes.heads : 4);
  sizes.vocab = vocab.getOr(32000);
  sizes.context = context.getOr(2048);
  sizes.hidden = hidden.getOr(llvm::alignTo(8 * sizes.width / 3, 256));
  return sizes;
}

TransformerSizes getBertSizes() {
  TransformerSizes sizes;
  sizes.layers = layers.getOr(12);
  sizes.width = width.getOr(768);
  sizes.heads = sizes.kvHeads = heads.getOr(12);
  sizes.vocab = vocab.getOr(30522);
  sizes.context = context.getOr(512);
  sizes.hidden = hidden.getOr(4 * sizes.width);
  return sizes;
}

Activation getActivation() {
  return activation == "relu"   ? Activation::Relu
         : activation == "gelu" ? Activation::Gelu
                                : Activation::Tanh;
}

int write(Network network) {
  WeightOptions options;
  options.write = weights == "normal";
  options.external = externalData;
  options.seed = seed;
  llvm::Expected<FileSizes> sizes = writeModel(network, outputPath, options);
  if (!sizes)
    return fail(llvm::toString(sizes.takeError()));
  int64_t count = 0;
  for (const Parameter &parameter : network.parameters)
    if (parameter.isTrained)
      count += parameter.elements();
  llvm::outs() << outputPath << ": " << count << " parameters, "
               << llvm::format("%.0f", network.flops) << " FLOPs per "
               << (mlp      ? "sample (6 N)"
                   : resnet ? "sample (6 N x positions)"
                            : "token (6 N + attention)")
               << ", " << sizes->model << " bytes";
  if (sizes->data)
    llvm::outs() << " and " << sizes->data << " in " << outputPath << ".data";
  llvm::outs() << "\n";
  return 0;
}

} // namespace

int main(int argc, char **argv) {
  dtc::handleEndingSignals();
  llvm::InitLLVM init(argc, argv);
  std::signal(SIGXFSZ, SIG_IGN); // makes a file that exceeds its limit an error
  llvm::StringRef first = argc > 1 ? argv[1] : "";
  bool isInformation = first == "-h" || first.starts_with("-help") ||
                       first.starts_with("--help") || first == "--version";
  if (!isInformation &&
      !llvm::is_contained({"gpt", "llama", "bert", "mlp", "resnet"}, first))
    return fail((first.empty() || first.starts_with("-")
                     ? "no architecture is given"
                     : "unknown architecture '" + first + "'") +
                ", expected gpt, llama, bert, mlp or resnet");
  cl::SetVersionPrinter([](llvm::raw_ostream &os) {
    os << "dtc-model " << dtc::getVersion() << "\n";
  });
  cl::HideUnrelatedOptions(category);
  cl::HideUnrelatedOptions(category, gpt);
  cl::HideUnrelatedOptions(category, llama);
  cl::HideUnrelatedOptions(category, bert);
  cl::HideUnrelatedOptions(category, mlp);
  cl::HideUnrelatedOptions(category, resnet);
  cl::ParseCommandLineOptions(argc, argv, overview);
  if (checkOptions())
    return 1;
  if (mlp)
    return write(buildMlp({layers.getOr(3), width.getOr(256), inputs.getOr(64),
                           classes.getOr(10)},
                          getActivation()));
  if (resnet)
    return write(
        buildResnet({layers.getOr(50), width.getOr(64), image.getOr(224),
                     channels.getOr(3), classes.getOr(1000)}));
  TransformerSizes sizes = llama  ? getLlamaSizes()
                           : bert ? getBertSizes()
                                  : getGptSizes();
  if (checkHeads(sizes))
    return 1;
  if (bert)
    return write(buildBert(sizes, segments.getOr(2)));
  return write(llama ? buildLlama(sizes)
                     : buildGpt(sizes, /*separate=*/qkv == "separate"));
}
