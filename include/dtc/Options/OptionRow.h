//===- OptionRow.h - one option of the command line -------------*- C++ -*-===//

#ifndef DTC_OPTIONS_OPTIONROW_H
#define DTC_OPTIONS_OPTIONROW_H

#include "llvm/ADT/StringRef.h"

namespace dtc {

struct OptionRow {
  /// The source of a field's value: an option that --help shows, an option that
  /// it does not show, or only the strategy of a module.
  enum Place { Shown, Hidden, InPlanOnly };

  constexpr OptionRow(llvm::StringRef name, llvm::StringRef values,
                      llvm::StringRef help, Place place = Shown)
      : name(name), values(values), help(help), place(place) {}
  constexpr OptionRow(llvm::StringRef name, llvm::StringRef values,
                      llvm::StringRef help, llvm::StringRef otherName)
      : name(name), values(values), help(help), otherName(otherName) {}

  llvm::StringRef name;      ///< on the command line and in the strategy
  llvm::StringRef values;    ///< as --help shows them; readOption checks them
  llvm::StringRef help;      ///< without the default, which the field has
  llvm::StringRef otherName; ///< in other frameworks, or empty
  Place place = Shown;
};

} // namespace dtc

#endif // DTC_OPTIONS_OPTIONROW_H
