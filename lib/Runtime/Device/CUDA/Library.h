//===- Library.h - a shared library, opened when it is needed ---*- C++ -*-===//
//
// A program starts on every machine. A library that a machine lacks is reported
// in one line, at its first use.
//
//===----------------------------------------------------------------------===//

#ifndef DTC_LIB_RUNTIME_DEVICE_CUDA_LIBRARY_H
#define DTC_LIB_RUNTIME_DEVICE_CUDA_LIBRARY_H

#include <initializer_list>
#include <string>

namespace dtc::rt {

class Library {
public:
  /// Opens the first of `names` that exists. Throws an Error with the first
  /// name and the package to install.
  Library(const char *what, std::initializer_list<const char *> names,
          const char *advice);

  /// Throws an Error if the library does not have it.
  void *find(const char *symbol) const;

private:
  std::string name;
  void *handle;
};

} // namespace dtc::rt

/// The name of a function as the library has it: headers may rename it by a
/// macro.
#define DTC_SYMBOL_TEXT(name) #name
#define DTC_SYMBOL(name) DTC_SYMBOL_TEXT(name)

/// Fills the function of this name in the table `loaded` from `library`: for
/// lists such as DTC_CUDA_FUNCTIONS.
#define DTC_LOAD(name)                                                         \
  loaded.name =                                                                \
      reinterpret_cast<decltype(loaded.name)>(library.find(DTC_SYMBOL(name)));

#endif // DTC_LIB_RUNTIME_DEVICE_CUDA_LIBRARY_H
