//===- Values.h - elements of the stand-ins' tensors ------------*- C++ -*-===//

#ifndef DTC_TEST_STANDINS_VALUES_H
#define DTC_TEST_STANDINS_VALUES_H

#include <cstdint>
#include <library_types.h>
#include <vector>

namespace dtc::standin {

uint64_t sizeOf(cudaDataType_t type);
double loadValue(cudaDataType_t type, const void *address);
/// Rounds to nearest, ties to even.
void storeValue(cudaDataType_t type, void *address, double value);

/// A matrix with columns first, `leading` elements apart, as one without gaps.
std::vector<double> loadMatrix(cudaDataType_t type, const void *data,
                               uint64_t rows, uint64_t columns,
                               int64_t leading);
void storeMatrix(cudaDataType_t type, void *data, uint64_t rows,
                 uint64_t columns, int64_t leading,
                 const std::vector<double> &values);

} // namespace dtc::standin

#endif // DTC_TEST_STANDINS_VALUES_H
