// RUN: dtc-opt %s --dtc-form-attention 2>&1 | FileCheck %s

// A mask with too many elements to be evaluated is one that is computed.
// CHECK: warning: the program computes this attention mask in each step: it has too many elements to evaluate at compile time, expected at most 33554432 for a sample
// CHECK: %[[MASK:.*]] = dtc.reshape %{{.*}} : (tensor<80x80x80x80xf32>)
// CHECK: dtc.attention %{{[0-9]+}}, %{{[0-9]+}}, %{{[0-9]+}}, %[[MASK]] {
func.func @large(%q: tensor<80x80x80x8xf32>) -> tensor<80x80x80x8xf32> {
  %numbers = dtc.constant dense<[0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19, 20, 21, 22, 23, 24, 25, 26, 27, 28, 29, 30, 31, 32, 33, 34, 35, 36, 37, 38, 39, 40, 41, 42, 43, 44, 45, 46, 47, 48, 49, 50, 51, 52, 53, 54, 55, 56, 57, 58, 59, 60, 61, 62, 63, 64, 65, 66, 67, 68, 69, 70, 71, 72, 73, 74, 75, 76, 77, 78, 79]> : tensor<80xi64> to tensor<80xi64>
  %a = dtc.reshape %numbers : (tensor<80xi64>) -> tensor<80x1x1x1xi64>
  %b = dtc.reshape %numbers : (tensor<80xi64>) -> tensor<80x1x1xi64>
  %c = dtc.reshape %numbers : (tensor<80xi64>) -> tensor<80x1xi64>
  %ab = dtc.add %a, %b : (tensor<80x1x1x1xi64>, tensor<80x1x1xi64>) -> tensor<80x80x1x1xi64>
  %abc = dtc.add %ab, %c : (tensor<80x80x1x1xi64>, tensor<80x1xi64>) -> tensor<80x80x80x1xi64>
  %isHidden = dtc.compare gt %numbers, %abc : (tensor<80xi64>, tensor<80x80x80x1xi64>) -> tensor<80x80x80x80xi1>
  %zero = dtc.constant dense<0.0> : tensor<f32> to tensor<f32>
  %least = dtc.constant dense<-3.40282347E+38> : tensor<f32> to tensor<f32>
  %mask = dtc.select %isHidden, %least, %zero : (tensor<80x80x80x80xi1>, tensor<f32>, tensor<f32>) -> tensor<80x80x80x80xf32>
  %scores = dtc.matmul %q, %q {transpose_rhs} : (tensor<80x80x80x8xf32>, tensor<80x80x80x8xf32>) -> tensor<80x80x80x80xf32>
  %masked = dtc.add %scores, %mask : (tensor<80x80x80x80xf32>, tensor<80x80x80x80xf32>) -> tensor<80x80x80x80xf32>
  %weights = dtc.softmax %masked : (tensor<80x80x80x80xf32>) -> tensor<80x80x80x80xf32>
  %r = dtc.matmul %weights, %q : (tensor<80x80x80x80xf32>, tensor<80x80x80x8xf32>) -> tensor<80x80x80x8xf32>
  return %r : tensor<80x80x80x8xf32>
}
