// A transformer of one block with a tied embedding: attention, layer norms,
// a residual MLP with GELU, masks made of inputs, labels to ignore.
module @transformer {
  func.func @forward(%ids: tensor<2x3xi64> {dtc.input = "ids"},
                     %wte: tensor<5x4xf64> {dtc.parameter = "wte"}, %wpe: tensor<3x4xf64> {dtc.parameter = "wpe"},
                     %g1: tensor<4xf64> {dtc.parameter = "ln1.weight"}, %b1: tensor<4xf64> {dtc.parameter = "ln1.bias"},
                     %qkv: tensor<4x12xf64> {dtc.parameter = "qkv.weight"}, %out: tensor<4x4xf64> {dtc.parameter = "out.weight"},
                     %g2: tensor<4xf64> {dtc.parameter = "ln2.weight"}, %b2: tensor<4xf64> {dtc.parameter = "ln2.bias"},
                     %up: tensor<8x4xf64> {dtc.parameter = "up.weight"}, %bias: tensor<8xf64> {dtc.parameter = "up.bias"},
                     %down: tensor<8x4xf64> {dtc.parameter = "down.weight"}) -> (tensor<2x3x5xf64> {dtc.output = "logits"}) {
    %positions = dtc.constant dense<[0, 1, 2]> : tensor<3xi64> to tensor<3xi64>
    %masked = dtc.constant dense<-1.0e4> : tensor<f64> to tensor<f64>
    %scale = dtc.constant dense<0.5> : tensor<f64> to tensor<f64>
    %half = dtc.constant dense<0.5> : tensor<f64> to tensor<f64>
    %one = dtc.constant dense<1.0> : tensor<f64> to tensor<f64>
    %three = dtc.constant dense<3.0> : tensor<f64> to tensor<f64>
    %cubic = dtc.constant dense<0.044715> : tensor<f64> to tensor<f64>
    %root = dtc.constant dense<0.7978845608028654> : tensor<f64> to tensor<f64>
    %row = dtc.reshape %positions : (tensor<3xi64>) -> tensor<3x1xi64>
    %causal = dtc.compare le %positions, %row : (tensor<3xi64>, tensor<3x1xi64>) -> tensor<3x3xi1>
    %token = dtc.gather %wte, %ids : (tensor<5x4xf64>, tensor<2x3xi64>) -> tensor<2x3x4xf64>
    %place = dtc.gather %wpe, %positions : (tensor<3x4xf64>, tensor<3xi64>) -> tensor<3x4xf64>
    %x = dtc.add %token, %place : (tensor<2x3x4xf64>, tensor<3x4xf64>) -> tensor<2x3x4xf64>
    %n1, %m1, %r1 = dtc.layer_norm %x, %g1, %b1 {epsilon = 1.0e-5 : f64} : (tensor<2x3x4xf64>, tensor<4xf64>, tensor<4xf64>) -> (tensor<2x3x4xf64>, tensor<2x3x1xf64>, tensor<2x3x1xf64>)
    %n1f = dtc.reshape %n1 : (tensor<2x3x4xf64>) -> tensor<6x4xf64>
    %all = dtc.matmul %n1f, %qkv : (tensor<6x4xf64>, tensor<4x12xf64>) -> tensor<6x12xf64>
    %all3 = dtc.reshape %all : (tensor<6x12xf64>) -> tensor<2x3x12xf64>
    %q, %k, %v = dtc.split %all3 axis 2 : (tensor<2x3x12xf64>) -> (tensor<2x3x4xf64>, tensor<2x3x4xf64>, tensor<2x3x4xf64>)
    %scores = dtc.matmul %q, %k {transpose_rhs} : (tensor<2x3x4xf64>, tensor<2x3x4xf64>) -> tensor<2x3x3xf64>
    %scaled = dtc.mul %scores, %scale : (tensor<2x3x3xf64>, tensor<f64>) -> tensor<2x3x3xf64>
    %seen = dtc.select %causal, %scaled, %masked : (tensor<3x3xi1>, tensor<2x3x3xf64>, tensor<f64>) -> tensor<2x3x3xf64>
    %p = dtc.softmax %seen : (tensor<2x3x3xf64>) -> tensor<2x3x3xf64>
    %mixed = dtc.matmul %p, %v : (tensor<2x3x3xf64>, tensor<2x3x4xf64>) -> tensor<2x3x4xf64>
    %mixedf = dtc.reshape %mixed : (tensor<2x3x4xf64>) -> tensor<6x4xf64>
    %of = dtc.matmul %mixedf, %out : (tensor<6x4xf64>, tensor<4x4xf64>) -> tensor<6x4xf64>
    %o = dtc.reshape %of : (tensor<6x4xf64>) -> tensor<2x3x4xf64>
    %y = dtc.add %x, %o : (tensor<2x3x4xf64>, tensor<2x3x4xf64>) -> tensor<2x3x4xf64>
    %n2, %m2, %r2 = dtc.layer_norm %y, %g2, %b2 {epsilon = 1.0e-5 : f64} : (tensor<2x3x4xf64>, tensor<4xf64>, tensor<4xf64>) -> (tensor<2x3x4xf64>, tensor<2x3x1xf64>, tensor<2x3x1xf64>)
    %n2f = dtc.reshape %n2 : (tensor<2x3x4xf64>) -> tensor<6x4xf64>
    %h = dtc.matmul %n2f, %up {transpose_rhs} : (tensor<6x4xf64>, tensor<8x4xf64>) -> tensor<6x8xf64>
    %hb = dtc.add %h, %bias : (tensor<6x8xf64>, tensor<8xf64>) -> tensor<6x8xf64>
    %h3 = dtc.pow %hb, %three : (tensor<6x8xf64>, tensor<f64>) -> tensor<6x8xf64>
    %h3c = dtc.mul %h3, %cubic : (tensor<6x8xf64>, tensor<f64>) -> tensor<6x8xf64>
    %inner = dtc.add %hb, %h3c : (tensor<6x8xf64>, tensor<6x8xf64>) -> tensor<6x8xf64>
    %arg = dtc.mul %inner, %root : (tensor<6x8xf64>, tensor<f64>) -> tensor<6x8xf64>
    %t = dtc.tanh %arg : (tensor<6x8xf64>) -> tensor<6x8xf64>
    %t1 = dtc.add %t, %one : (tensor<6x8xf64>, tensor<f64>) -> tensor<6x8xf64>
    %hh = dtc.mul %hb, %half : (tensor<6x8xf64>, tensor<f64>) -> tensor<6x8xf64>
    %gelu = dtc.mul %hh, %t1 : (tensor<6x8xf64>, tensor<6x8xf64>) -> tensor<6x8xf64>
    %df = dtc.matmul %gelu, %down : (tensor<6x8xf64>, tensor<8x4xf64>) -> tensor<6x4xf64>
    %d = dtc.reshape %df : (tensor<6x4xf64>) -> tensor<2x3x4xf64>
    %z = dtc.add %y, %d : (tensor<2x3x4xf64>, tensor<2x3x4xf64>) -> tensor<2x3x4xf64>
    %zf = dtc.reshape %z : (tensor<2x3x4xf64>) -> tensor<6x4xf64>
    %lf = dtc.matmul %zf, %wte {transpose_rhs} : (tensor<6x4xf64>, tensor<5x4xf64>) -> tensor<6x5xf64>
    %logits = dtc.reshape %lf : (tensor<6x5xf64>) -> tensor<2x3x5xf64>
    return %logits : tensor<2x3x5xf64>
  }
}
