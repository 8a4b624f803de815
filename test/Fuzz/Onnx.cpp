//===- Onnx.cpp - fuzzes the import of models -----------------------------===//
//
// Most mutations change a few numbers and names of a model that stays one.
//
//===----------------------------------------------------------------------===//

#include "InputFile.h"
#include "dtc/Frontend/Import.h"
#include "mlir/IR/MLIRContext.h"
#include "llvm/Support/raw_ostream.h"
#include <cstring>
#include <onnx/onnx_pb.h>
#include <random>

using google::protobuf::FieldDescriptor;
using google::protobuf::Message;

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  dtc::test::InputFile file(data, size);
  mlir::MLIRContext context(mlir::MLIRContext::Threading::DISABLED);
  mlir::ScopedDiagnosticHandler quiet(
      &context, [](mlir::Diagnostic &) { return mlir::success(); });
  dtc::ImportOptions options;
  options.path = file.getPath();
  options.batch = 4;
  dtc::ImportReport report;
  mlir::OwningOpRef<mlir::ModuleOp> module =
      dtc::importOnnx(context, options, report);
  if (!module) {
    report.printIssues(llvm::nulls());
    return 0;
  }
  report.printNotes(llvm::nulls(), /*isVerbose=*/true);
  report.printConstants(llvm::nulls());
  dtc::writeSafetensors(llvm::nulls(), report.parameters);
  return 0;
}

namespace {

/// A number or name of a message or of one that it holds.
struct Field {
  Message *message;
  const FieldDescriptor *descriptor;
  int index; ///< -1 if it is not repeated
};

void collect(Message &message, std::vector<Field> &fields) {
  const auto *reflection = message.GetReflection();
  std::vector<const FieldDescriptor *> set;
  reflection->ListFields(message, &set);
  for (const FieldDescriptor *field : set) {
    bool isMessage = field->cpp_type() == FieldDescriptor::CPPTYPE_MESSAGE;
    int count =
        field->is_repeated() ? reflection->FieldSize(message, field) : 1;
    for (int i = 0; i < count; ++i)
      if (!isMessage)
        fields.push_back({&message, field, field->is_repeated() ? i : -1});
      else if (field->is_repeated())
        collect(*reflection->MutableRepeatedMessage(&message, field, i),
                fields);
      else
        collect(*reflection->MutableMessage(&message, field), fields);
  }
}

int64_t drawNumber(std::mt19937 &random, int64_t old) {
  constexpr int64_t numbers[] = {0,
                                 1,
                                 -1,
                                 2,
                                 3,
                                 INT64_MAX,
                                 INT64_MIN,
                                 int64_t(1) << 31,
                                 int64_t(1) << 40,
                                 int64_t(1) << 48,
                                 int64_t(1) << 62};
  if (random() % 3 == 0)
    return int64_t(uint64_t(old) + random() % 5 - 2);
  return numbers[random() % std::size(numbers)];
}

void change(const Field &field, const std::vector<Field> &all,
            std::mt19937 &random) {
  const auto *reflection = field.message->GetReflection();
  const FieldDescriptor *d = field.descriptor;
  auto set = [&](auto one, auto repeated, auto value) {
    if (field.index < 0)
      (reflection->*one)(field.message, d, value);
    else
      (reflection->*repeated)(field.message, d, field.index, value);
  };
  using Reflection = google::protobuf::Reflection;
  switch (d->cpp_type()) {
  case FieldDescriptor::CPPTYPE_INT64: {
    int64_t old =
        field.index < 0
            ? reflection->GetInt64(*field.message, d)
            : reflection->GetRepeatedInt64(*field.message, d, field.index);
    return set(&Reflection::SetInt64, &Reflection::SetRepeatedInt64,
               drawNumber(random, old));
  }
  case FieldDescriptor::CPPTYPE_INT32:
    return set(&Reflection::SetInt32, &Reflection::SetRepeatedInt32,
               int32_t(random() % 20));
  case FieldDescriptor::CPPTYPE_ENUM:
    return set(&Reflection::SetEnumValue, &Reflection::SetRepeatedEnumValue,
               int(random() % 12));
  case FieldDescriptor::CPPTYPE_FLOAT:
    return set(&Reflection::SetFloat, &Reflection::SetRepeatedFloat,
               float(drawNumber(random, 0)) / float(random() % 3));
  case FieldDescriptor::CPPTYPE_STRING: {
    const Field &other = all[random() % all.size()];
    if (other.descriptor->cpp_type() != FieldDescriptor::CPPTYPE_STRING)
      return;
    std::string text = other.index < 0
                           ? other.message->GetReflection()->GetString(
                                 *other.message, other.descriptor)
                           : other.message->GetReflection()->GetRepeatedString(
                                 *other.message, other.descriptor, other.index);
    // Or a number in raw data, of known values.
    if (d->name() == "raw_data") {
      text = reflection->GetString(*field.message, d);
      int64_t number = drawNumber(random, 0);
      if (text.size() >= sizeof number)
        std::memcpy(text.data() + random() % (text.size() / sizeof number) *
                                      sizeof number,
                    &number, sizeof number);
    }
    if (field.index < 0)
      reflection->SetString(field.message, d, text);
    else
      reflection->SetRepeatedString(field.message, d, field.index, text);
    return;
  }
  default:
    return;
  }
}

} // namespace

extern "C" size_t LLVMFuzzerMutate(uint8_t *data, size_t size, size_t maxSize)
    __attribute__((weak));

extern "C" size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size,
                                          size_t maxSize, unsigned seed) {
  std::mt19937 random(seed);
  onnx::ModelProto model;
  std::vector<Field> fields;
  if (random() % 4 != 0 && model.ParseFromArray(data, int(size)))
    collect(model, fields);
  if (fields.empty())
    return LLVMFuzzerMutate(data, size, maxSize);
  for (unsigned i = 0; i <= random() % 3; ++i)
    change(fields[random() % fields.size()], fields, random);
  std::string bytes = model.SerializeAsString();
  if (bytes.size() > maxSize)
    return LLVMFuzzerMutate(data, size, maxSize);
  std::memcpy(data, bytes.data(), bytes.size());
  return bytes.size();
}
