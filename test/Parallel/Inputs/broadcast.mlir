func.func @step(%x: tensor<32x4xf32> {dtc.input = "x", dtc.kind = "input"},
                %w: tensor<1x1xf32> {dtc.parameter = "w"}) -> tensor<32x4xf32> {
  %0 = dtc.broadcast %w : (tensor<1x1xf32>) -> tensor<32x4xf32>
  %1 = dtc.mul %x, %0 : (tensor<32x4xf32>, tensor<32x4xf32>) -> tensor<32x4xf32>
  return %1 : tensor<32x4xf32>
}
