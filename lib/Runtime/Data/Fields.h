//===- Fields.h - data of a program's inputs, from files --------*- C++ -*-===//
//
// A field is one input's part of all samples: arrays of its shape, windows of
// a stream of tokens, or images that are transformed. docs/Data.md has the
// rules.
//
//===----------------------------------------------------------------------===//

#ifndef DTC_LIB_RUNTIME_DATA_FIELDS_H
#define DTC_LIB_RUNTIME_DATA_FIELDS_H

#include "ShardedArray.h"
#include "Source.h"

namespace dtc::rt {

class Field {
public:
  virtual ~Field() = default;

  virtual int64_t samples() const { return array().shape()[0]; }
  /// Whether the array is a stream of tokens, shared with other fields.
  virtual bool isStream() const { return false; }
  virtual const ShardedArray &array() const = 0;

  /// Writes a sample in the input's type. Throws an Error if the sample has
  /// changed since it was checked. Does not allocate otherwise.
  virtual void load(int64_t sample, int64_t epoch, void *target) = 0;

  /// Checks a rank's share of all values against what the input accepts.
  void checkValues(int rank, int ranks) const;

  /// "sample 7 of 'x.npy'".
  std::string describe(int64_t sample) const;
  void willNeed(int64_t sample) const {
    if (isLarge())
      array().willNeed(sample * sampleElements, sampleElements);
  }

private:
  /// Small files are in memory after the first epoch, without a system call per
  /// row.
  bool isLarge() const {
    const ShardedArray &all = array();
    return elementCount(all.shape()) * sizeOf(all.dtype()) >= 256 << 20;
  }

protected:
  Field(const InputInfo &input, int64_t sampleElements)
      : input(input), sampleElements(sampleElements),
        loadedElements(elementCount(input.sampleShape())) {}

  /// Checks whole numbers that were just read: an index out of range would read
  /// outside a table.
  void checkLoaded(int64_t sample, const void *values) const;

  const InputInfo &input;
  int64_t sampleElements; ///< of a sample, in the files
  int64_t loadedElements; ///< of a sample, as the program gets it
};

/// The field of each data input, null for other inputs. Throws an Error if an
/// array is missing or does not fit.
std::vector<std::unique_ptr<Field>> openFields(const Program &program,
                                               const DataOptions &options);

/// An image for a float input of three dimensions: with a transform, or in
/// another order of dimensions than the input. Null if the array needs neither,
/// being of the input's shape. Throws if it cannot be such an image.
std::unique_ptr<Field> makeImageField(const InputInfo &input,
                                      ShardedArray &array,
                                      const DataOptions &options);

/// Whether images can be given to an input.
bool takesImages(const InputInfo &input);

} // namespace dtc::rt

#endif // DTC_LIB_RUNTIME_DATA_FIELDS_H
