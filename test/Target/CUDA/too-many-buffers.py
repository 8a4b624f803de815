"""usage: too-many-buffers.py COUNT: a kernel whose device function takes so many buffers."""
import sys

names = [f"%b{i}" for i in range(int(sys.argv[1]))]
arguments = ", ".join(f"{name}: memref<1xf32>" for name in names)
print(f"""module attributes {{gpu.container_module}} {{
  gpu.module @device {{
    gpu.func @many_0({arguments}) kernel {{
      gpu.return
    }}
  }}
  func.func @many({arguments}) attributes {{dtc.kernel}} {{
    %one = arith.constant 1 : index
    gpu.launch_func @device::@many_0 blocks in (%one, %one, %one) threads in (%one, %one, %one) args({arguments})
    return
  }}
}}""")
