# Of a lowered program: calls that a step of stage 0 makes, functions included.
# Prints how many of them launch, compute products, and copy or fill outside of
# kernels.
/^  llvm.func / {
  match($0, /@[^(]*/)
  name = substr($0, RSTART + 1, RLENGTH - 1)
}
match($0, /llvm\.call @[^(]*/) {
  calls[name, ++count[name]] = substr($0, RSTART + 11, RLENGTH - 11)
}
function visit(caller, i, callee) {
  for (i = 1; i <= count[caller]; ++i) {
    callee = calls[caller, i]
    if (callee == "dtcrt_launch") launches++
    else if (callee ~ /^dtcrt_(matmul|conv2d|attention|packed_attention)/) products++
    else if (callee ~ /^dtcrt_(copy|fill|local_slice)$/ && caller !~ /^kernel_/)
      copies++
    else if (count[callee])
      visit(callee)
  }
}
END {
  visit("stage0_plan")
  print "\"copies\":" copies + 0
  print "\"functions\":" launches + 0
  print "\"library_calls\":" products + 0
}
