//===- Values.cpp - elements of the stand-ins' tensors --------------------===//

#include "Values.h"

#include "Machine.h"

#include <cstring>

using namespace dtc::standin;

uint64_t dtc::standin::sizeOf(cudaDataType_t type) {
  switch (type) {
  case CUDA_R_64F:
    return 8;
  case CUDA_R_32F:
    return 4;
  case CUDA_R_16BF:
  case CUDA_R_16F:
    return 2;
  default:
    fault("element type %d, expected floating point", type);
  }
}

double dtc::standin::loadValue(cudaDataType_t type, const void *address) {
  switch (type) {
  case CUDA_R_64F: {
    double value;
    memcpy(&value, address, sizeof value);
    return value;
  }
  case CUDA_R_32F: {
    float value;
    memcpy(&value, address, sizeof value);
    return value;
  }
  case CUDA_R_16BF: {
    uint16_t half;
    memcpy(&half, address, sizeof half);
    uint32_t bits = uint32_t(half) << 16;
    float value;
    memcpy(&value, &bits, sizeof value);
    return value;
  }
  case CUDA_R_16F: {
    _Float16 value;
    memcpy(&value, address, sizeof value);
    return double(value);
  }
  default:
    fault("element type %d, expected floating point", type);
  }
}

void dtc::standin::storeValue(cudaDataType_t type, void *address,
                              double value) {
  switch (type) {
  case CUDA_R_64F:
    memcpy(address, &value, sizeof value);
    return;
  case CUDA_R_32F: {
    auto narrow = float(value);
    memcpy(address, &narrow, sizeof narrow);
    return;
  }
  case CUDA_R_16BF: {
    auto narrow = float(value);
    uint32_t bits;
    memcpy(&bits, &narrow, sizeof bits);
    if (narrow == narrow)
      bits += 0x7fff + (bits >> 16 & 1);
    auto half = uint16_t(bits >> 16);
    memcpy(address, &half, sizeof half);
    return;
  }
  case CUDA_R_16F: {
    auto narrow = _Float16(value);
    memcpy(address, &narrow, sizeof narrow);
    return;
  }
  default:
    fault("element type %d, expected floating point", type);
  }
}

std::vector<double> dtc::standin::loadMatrix(cudaDataType_t type,
                                             const void *data, uint64_t rows,
                                             uint64_t columns,
                                             int64_t leading) {
  uint64_t size = sizeOf(type);
  std::vector<double> values(rows * columns);
  for (uint64_t column = 0; column < columns; ++column)
    for (uint64_t row = 0; row < rows; ++row)
      values[column * rows + row] =
          loadValue(type, static_cast<const char *>(data) +
                              (column * uint64_t(leading) + row) * size);
  return values;
}

void dtc::standin::storeMatrix(cudaDataType_t type, void *data, uint64_t rows,
                               uint64_t columns, int64_t leading,
                               const std::vector<double> &values) {
  uint64_t size = sizeOf(type);
  for (uint64_t column = 0; column < columns; ++column)
    for (uint64_t row = 0; row < rows; ++row)
      storeValue(type,
                 static_cast<char *>(data) +
                     (column * uint64_t(leading) + row) * size,
                 values[column * rows + row]);
}
