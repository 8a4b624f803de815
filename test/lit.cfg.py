# Configures lit for the tests of this folder.
import os
import shutil
import subprocess
import sys

import lit.formats

config.name = "dtc"
config.test_format = lit.formats.ShTest(execute_external=False)
config.suffixes = [".mlir", ".test"]
config.excludes = ["Inputs"]
config.test_source_root = os.path.dirname(__file__)
config.test_exec_root = os.path.join(config.dtc_binary_dir, "test")

path = [os.path.join(config.dtc_binary_dir, "bin"), config.llvm_tools_dir]
config.environment["PATH"] = os.pathsep.join(path + [config.environment["PATH"]])
config.substitutions += [
    ("%inputs", os.path.join(config.test_source_root, "Inputs")),
    ("%build", config.dtc_binary_dir),
    ("%cmake", config.cmake),
    ("%python", sys.executable),
]

# Ranks: one thread each, more ranks than cores, and root allowed. On one machine
# OpenMPI chooses ob1 itself, but its search for networks takes longer than most tests.
# In MPI_Finalize a rank waits only two seconds for mpirun: on a slow machine, mpirun
# must not report an error for a rank that ended well.
config.environment.update({
    "OMP_NUM_THREADS": "1",
    "OMPI_ALLOW_RUN_AS_ROOT": "1",
    "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1",
    "OMPI_MCA_orte_allowed_exit_without_sync": "1",
    "OMPI_MCA_pml": "ob1",
    "OMPI_MCA_rmaps_base_oversubscribe": "1",
})

if config.sanitized:
    config.available_features.add("sanitized")

# Programs for GPUs: runtime and stand-ins; and the assembler of their code.
if config.cuda:
    config.available_features.add("cuda")
if shutil.which(config.ptxas):
    config.available_features.add("ptxas")
    config.substitutions.append(("%ptxas", config.ptxas))

# The data set is a Debian package, which tests do not install.
if os.path.isdir("/usr/share/datasets/fashion-mnist"):
    config.available_features.add("fashion-mnist")

# Tests of two machines need the right to make network namespaces.
if shutil.which("ip") and subprocess.run(
        ["unshare", "--net", "--uts", "true"], stderr=subprocess.DEVNULL).returncode == 0:
    config.available_features.add("namespaces")

# DTC_FULL_TESTS=1 (tools/check.sh --full) runs every plan.
if os.environ.get("DTC_FULL_TESTS") == "1":
    config.available_features.add("full")
