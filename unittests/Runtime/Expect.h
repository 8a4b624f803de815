//===- Expect.h - checks of error messages ----------------------*- C++ -*-===//

#ifndef DTC_UNITTESTS_RUNTIME_EXPECT_H
#define DTC_UNITTESTS_RUNTIME_EXPECT_H

#include "Core/Error.h"

#include <gtest/gtest.h>

/// Expects that the statement throws an Error of one line that contains `text`.
#define EXPECT_ERROR(statement, text)                                          \
  do {                                                                         \
    std::string message = "(no error)";                                        \
    try {                                                                      \
      statement;                                                               \
    } catch (const dtc::rt::Error &error) {                                    \
      message = error.what();                                                  \
    }                                                                          \
    EXPECT_NE(message.find(text), std::string::npos) << message;               \
    EXPECT_EQ(message.find('\n'), std::string::npos) << message;               \
  } while (false)

#endif // DTC_UNITTESTS_RUNTIME_EXPECT_H
