// The mask of 8192 positions has 2^26 elements: more than are computed. One that
// depends on the distance of a query from a key is known all the same.
// RUN: dtc-opt %s --dtc-form-attention --split-input-file -verify-diagnostics | FileCheck %s

// Added to the scores.
// CHECK-LABEL: func @added
// CHECK: dtc.attention %{{[^,]*}}, %{{[^,]*}}, %{{[^,]*}} {causal, scale
func.func @added(%q: tensor<1x2x8192x8xf32> {dtc.input = "q"}, %k: tensor<1x2x8192x8xf32> {dtc.input = "k"}) -> tensor<1x2x8192x8xf32> {
  %a = dtc.constant dense<[[0],[16],[32],[48],[64],[80],[96],[112],[128],[144],[160],[176],[192],[208],[224],[240]]> : tensor<16x1xi64> to tensor<16x1xi64>
  %b = dtc.constant dense<[0,1,2,3,4,5,6,7,8,9,10,11,12,13,14,15]> : tensor<16xi64> to tensor<16xi64>
  %c = dtc.add %a, %b : (tensor<16x1xi64>, tensor<16xi64>) -> tensor<16x16xi64>
  %d = dtc.reshape %c : (tensor<16x16xi64>) -> tensor<256xi64>
  %e = dtc.constant dense<[[0],[256],[512],[768],[1024],[1280],[1536],[1792],[2048],[2304],[2560],[2816],[3072],[3328],[3584],[3840],[4096],[4352],[4608],[4864],[5120],[5376],[5632],[5888],[6144],[6400],[6656],[6912],[7168],[7424],[7680],[7936]]> : tensor<32x1xi64> to tensor<32x1xi64>
  %f = dtc.add %e, %d : (tensor<32x1xi64>, tensor<256xi64>) -> tensor<32x256xi64>
  %keys = dtc.reshape %f : (tensor<32x256xi64>) -> tensor<8192xi64>
  %queries = dtc.reshape %keys : (tensor<8192xi64>) -> tensor<8192x1xi64>
  %hidden = dtc.constant dense<0xFF800000> : tensor<f32> to tensor<f32>
  %zero = dtc.constant dense<0.0> : tensor<f32> to tensor<f32>
  %s = dtc.matmul %q, %k {transpose_rhs} : (tensor<1x2x8192x8xf32>, tensor<1x2x8192x8xf32>) -> tensor<1x2x8192x8192xf32>
  %seen = dtc.compare le %keys, %queries : (tensor<8192xi64>, tensor<8192x1xi64>) -> tensor<8192x8192xi1>
  %mask = dtc.select %seen, %zero, %hidden : (tensor<8192x8192xi1>, tensor<f32>, tensor<f32>) -> tensor<8192x8192xf32>
  %m = dtc.add %s, %mask : (tensor<1x2x8192x8192xf32>, tensor<8192x8192xf32>) -> tensor<1x2x8192x8192xf32>
  %p = dtc.softmax %m : (tensor<1x2x8192x8192xf32>) -> tensor<1x2x8192x8192xf32>
  %o = dtc.matmul %p, %k : (tensor<1x2x8192x8192xf32>, tensor<1x2x8192x8xf32>) -> tensor<1x2x8192x8xf32>
  return %o : tensor<1x2x8192x8xf32>
}

// -----

// In place of the scores, by the distance itself, and joined with what is true
// everywhere.
// CHECK-LABEL: func @replaced
// CHECK: dtc.attention %{{[^,]*}}, %{{[^,]*}}, %{{[^,]*}} {causal, scale
func.func @replaced(%q: tensor<1x2x8192x8xf32> {dtc.input = "q"}, %k: tensor<1x2x8192x8xf32> {dtc.input = "k"}) -> tensor<1x2x8192x8xf32> {
  %a = dtc.constant dense<[[0],[16],[32],[48],[64],[80],[96],[112],[128],[144],[160],[176],[192],[208],[224],[240]]> : tensor<16x1xi64> to tensor<16x1xi64>
  %b = dtc.constant dense<[0,1,2,3,4,5,6,7,8,9,10,11,12,13,14,15]> : tensor<16xi64> to tensor<16xi64>
  %c = dtc.add %a, %b : (tensor<16x1xi64>, tensor<16xi64>) -> tensor<16x16xi64>
  %d = dtc.reshape %c : (tensor<16x16xi64>) -> tensor<256xi64>
  %e = dtc.constant dense<[[0],[256],[512],[768],[1024],[1280],[1536],[1792],[2048],[2304],[2560],[2816],[3072],[3328],[3584],[3840],[4096],[4352],[4608],[4864],[5120],[5376],[5632],[5888],[6144],[6400],[6656],[6912],[7168],[7424],[7680],[7936]]> : tensor<32x1xi64> to tensor<32x1xi64>
  %f = dtc.add %e, %d : (tensor<32x1xi64>, tensor<256xi64>) -> tensor<32x256xi64>
  %keys = dtc.reshape %f : (tensor<32x256xi64>) -> tensor<8192xi64>
  %queries = dtc.reshape %keys : (tensor<8192xi64>) -> tensor<8192x1xi64>
  %hidden = dtc.constant dense<0xFF800000> : tensor<f32> to tensor<f32>
  %zero = dtc.constant dense<0.0> : tensor<f32> to tensor<f32>
  %s = dtc.matmul %q, %k {transpose_rhs} : (tensor<1x2x8192x8xf32>, tensor<1x2x8192x8xf32>) -> tensor<1x2x8192x8192xf32>
  %nothing = dtc.constant dense<0> : tensor<i64> to tensor<i64>
  %yes = dtc.constant dense<true> : tensor<8192x1xi1> to tensor<8192x1xi1>
  %distance = dtc.sub %queries, %keys : (tensor<8192x1xi64>, tensor<8192xi64>) -> tensor<8192x8192xi64>
  %later = dtc.compare lt %distance, %nothing : (tensor<8192x8192xi64>, tensor<i64>) -> tensor<8192x8192xi1>
  %not = dtc.logical_not %later : (tensor<8192x8192xi1>) -> tensor<8192x8192xi1>
  %seen = dtc.logical_and %not, %yes : (tensor<8192x8192xi1>, tensor<8192x1xi1>) -> tensor<8192x8192xi1>
  %all = dtc.reshape %seen : (tensor<8192x8192xi1>) -> tensor<1x1x8192x8192xi1>
  %m = dtc.select %all, %s, %hidden : (tensor<1x1x8192x8192xi1>, tensor<1x2x8192x8192xf32>, tensor<f32>) -> tensor<1x2x8192x8192xf32>
  %p = dtc.softmax %m : (tensor<1x2x8192x8192xf32>) -> tensor<1x2x8192x8192xf32>
  %o = dtc.matmul %p, %k : (tensor<1x2x8192x8192xf32>, tensor<1x2x8192x8xf32>) -> tensor<1x2x8192x8xf32>
  return %o : tensor<1x2x8192x8xf32>
}

// -----

// A window of four keys is no causal mask: it is computed in each step.
// CHECK-LABEL: func @window
// CHECK: dtc.attention %{{[^,]*}}, %{{[^,]*}}, %{{[^,]*}}, %{{[^,]*}} {scale
func.func @window(%q: tensor<1x2x8192x8xf32> {dtc.input = "q"}, %k: tensor<1x2x8192x8xf32> {dtc.input = "k"}) -> tensor<1x2x8192x8xf32> {
  %a = dtc.constant dense<[[0],[16],[32],[48],[64],[80],[96],[112],[128],[144],[160],[176],[192],[208],[224],[240]]> : tensor<16x1xi64> to tensor<16x1xi64>
  %b = dtc.constant dense<[0,1,2,3,4,5,6,7,8,9,10,11,12,13,14,15]> : tensor<16xi64> to tensor<16xi64>
  %c = dtc.add %a, %b : (tensor<16x1xi64>, tensor<16xi64>) -> tensor<16x16xi64>
  %d = dtc.reshape %c : (tensor<16x16xi64>) -> tensor<256xi64>
  %e = dtc.constant dense<[[0],[256],[512],[768],[1024],[1280],[1536],[1792],[2048],[2304],[2560],[2816],[3072],[3328],[3584],[3840],[4096],[4352],[4608],[4864],[5120],[5376],[5632],[5888],[6144],[6400],[6656],[6912],[7168],[7424],[7680],[7936]]> : tensor<32x1xi64> to tensor<32x1xi64>
  %f = dtc.add %e, %d : (tensor<32x1xi64>, tensor<256xi64>) -> tensor<32x256xi64>
  %keys = dtc.reshape %f : (tensor<32x256xi64>) -> tensor<8192xi64>
  %queries = dtc.reshape %keys : (tensor<8192xi64>) -> tensor<8192x1xi64>
  %hidden = dtc.constant dense<0xFF800000> : tensor<f32> to tensor<f32>
  %zero = dtc.constant dense<0.0> : tensor<f32> to tensor<f32>
  %s = dtc.matmul %q, %k {transpose_rhs} : (tensor<1x2x8192x8xf32>, tensor<1x2x8192x8xf32>) -> tensor<1x2x8192x8192xf32>
  %seen = dtc.compare le %keys, %queries : (tensor<8192xi64>, tensor<8192x1xi64>) -> tensor<8192x8192xi1>
  %four = dtc.constant dense<4> : tensor<i64> to tensor<i64>
  %distance = dtc.sub %queries, %keys : (tensor<8192x1xi64>, tensor<8192xi64>) -> tensor<8192x8192xi64>
  %near = dtc.compare lt %distance, %four : (tensor<8192x8192xi64>, tensor<i64>) -> tensor<8192x8192xi1>
  %both = dtc.logical_and %seen, %near : (tensor<8192x8192xi1>, tensor<8192x8192xi1>) -> tensor<8192x8192xi1>
  // expected-warning @+1 {{the program computes this attention mask in each step}}
  %mask = dtc.select %both, %zero, %hidden : (tensor<8192x8192xi1>, tensor<f32>, tensor<f32>) -> tensor<8192x8192xf32>
  %m = dtc.add %s, %mask : (tensor<1x2x8192x8192xf32>, tensor<8192x8192xf32>) -> tensor<1x2x8192x8192xf32>
  %p = dtc.softmax %m : (tensor<1x2x8192x8192xf32>) -> tensor<1x2x8192x8192xf32>
  %o = dtc.matmul %p, %k : (tensor<1x2x8192x8192xf32>, tensor<1x2x8192x8xf32>) -> tensor<1x2x8192x8xf32>
  return %o : tensor<1x2x8192x8xf32>
}

// -----

// Every second position of a key is another distance.
// CHECK-LABEL: func @strides
// CHECK: dtc.attention %{{[^,]*}}, %{{[^,]*}}, %{{[^,]*}}, %{{[^,]*}} {scale
func.func @strides(%q: tensor<1x2x8192x8xf32> {dtc.input = "q"}, %k: tensor<1x2x8192x8xf32> {dtc.input = "k"}) -> tensor<1x2x8192x8xf32> {
  %a = dtc.constant dense<[[0],[16],[32],[48],[64],[80],[96],[112],[128],[144],[160],[176],[192],[208],[224],[240]]> : tensor<16x1xi64> to tensor<16x1xi64>
  %b = dtc.constant dense<[0,1,2,3,4,5,6,7,8,9,10,11,12,13,14,15]> : tensor<16xi64> to tensor<16xi64>
  %c = dtc.add %a, %b : (tensor<16x1xi64>, tensor<16xi64>) -> tensor<16x16xi64>
  %d = dtc.reshape %c : (tensor<16x16xi64>) -> tensor<256xi64>
  %e = dtc.constant dense<[[0],[256],[512],[768],[1024],[1280],[1536],[1792],[2048],[2304],[2560],[2816],[3072],[3328],[3584],[3840],[4096],[4352],[4608],[4864],[5120],[5376],[5632],[5888],[6144],[6400],[6656],[6912],[7168],[7424],[7680],[7936]]> : tensor<32x1xi64> to tensor<32x1xi64>
  %f = dtc.add %e, %d : (tensor<32x1xi64>, tensor<256xi64>) -> tensor<32x256xi64>
  %keys = dtc.reshape %f : (tensor<32x256xi64>) -> tensor<8192xi64>
  %queries = dtc.reshape %keys : (tensor<8192xi64>) -> tensor<8192x1xi64>
  %hidden = dtc.constant dense<0xFF800000> : tensor<f32> to tensor<f32>
  %zero = dtc.constant dense<0.0> : tensor<f32> to tensor<f32>
  %s = dtc.matmul %q, %k {transpose_rhs} : (tensor<1x2x8192x8xf32>, tensor<1x2x8192x8xf32>) -> tensor<1x2x8192x8192xf32>
  %two = dtc.constant dense<2> : tensor<i64> to tensor<i64>
  %twice = dtc.mul %keys, %two : (tensor<8192xi64>, tensor<i64>) -> tensor<8192xi64>
  %seen = dtc.compare le %twice, %queries : (tensor<8192xi64>, tensor<8192x1xi64>) -> tensor<8192x8192xi1>
  // expected-warning @+1 {{the program computes this attention mask in each step}}
  %mask = dtc.select %seen, %zero, %hidden : (tensor<8192x8192xi1>, tensor<f32>, tensor<f32>) -> tensor<8192x8192xf32>
  %m = dtc.add %s, %mask : (tensor<1x2x8192x8192xf32>, tensor<8192x8192xf32>) -> tensor<1x2x8192x8192xf32>
  %p = dtc.softmax %m : (tensor<1x2x8192x8192xf32>) -> tensor<1x2x8192x8192xf32>
  %o = dtc.matmul %p, %k : (tensor<1x2x8192x8192xf32>, tensor<1x2x8192x8xf32>) -> tensor<1x2x8192x8xf32>
  return %o : tensor<1x2x8192x8xf32>
}

// -----

// The upper triangle, transposed.
// CHECK-LABEL: func @flipped
// CHECK: dtc.attention %{{[^,]*}}, %{{[^,]*}}, %{{[^,]*}} {causal, scale
func.func @flipped(%q: tensor<1x2x8192x8xf32> {dtc.input = "q"}, %k: tensor<1x2x8192x8xf32> {dtc.input = "k"}) -> tensor<1x2x8192x8xf32> {
  %a = dtc.constant dense<[[0],[16],[32],[48],[64],[80],[96],[112],[128],[144],[160],[176],[192],[208],[224],[240]]> : tensor<16x1xi64> to tensor<16x1xi64>
  %b = dtc.constant dense<[0,1,2,3,4,5,6,7,8,9,10,11,12,13,14,15]> : tensor<16xi64> to tensor<16xi64>
  %c = dtc.add %a, %b : (tensor<16x1xi64>, tensor<16xi64>) -> tensor<16x16xi64>
  %d = dtc.reshape %c : (tensor<16x16xi64>) -> tensor<256xi64>
  %e = dtc.constant dense<[[0],[256],[512],[768],[1024],[1280],[1536],[1792],[2048],[2304],[2560],[2816],[3072],[3328],[3584],[3840],[4096],[4352],[4608],[4864],[5120],[5376],[5632],[5888],[6144],[6400],[6656],[6912],[7168],[7424],[7680],[7936]]> : tensor<32x1xi64> to tensor<32x1xi64>
  %f = dtc.add %e, %d : (tensor<32x1xi64>, tensor<256xi64>) -> tensor<32x256xi64>
  %keys = dtc.reshape %f : (tensor<32x256xi64>) -> tensor<8192xi64>
  %queries = dtc.reshape %keys : (tensor<8192xi64>) -> tensor<8192x1xi64>
  %hidden = dtc.constant dense<0xFF800000> : tensor<f32> to tensor<f32>
  %zero = dtc.constant dense<0.0> : tensor<f32> to tensor<f32>
  %s = dtc.matmul %q, %k {transpose_rhs} : (tensor<1x2x8192x8xf32>, tensor<1x2x8192x8xf32>) -> tensor<1x2x8192x8192xf32>
  %upper = dtc.compare ge %keys, %queries : (tensor<8192xi64>, tensor<8192x1xi64>) -> tensor<8192x8192xi1>
  %seen = dtc.transpose %upper [1, 0] : (tensor<8192x8192xi1>) -> tensor<8192x8192xi1>
  %mask = dtc.select %seen, %zero, %hidden : (tensor<8192x8192xi1>, tensor<f32>, tensor<f32>) -> tensor<8192x8192xf32>
  %m = dtc.add %s, %mask : (tensor<1x2x8192x8192xf32>, tensor<8192x8192xf32>) -> tensor<1x2x8192x8192xf32>
  %p = dtc.softmax %m : (tensor<1x2x8192x8192xf32>) -> tensor<1x2x8192x8192xf32>
  %o = dtc.matmul %p, %k : (tensor<1x2x8192x8192xf32>, tensor<1x2x8192x8xf32>) -> tensor<1x2x8192x8xf32>
  return %o : tensor<1x2x8192x8xf32>
}
