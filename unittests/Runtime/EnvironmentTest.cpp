//===- EnvironmentTest.cpp - variables of launchers -----------------------===//

#include "Launch/Environment.h"

#include "Expect.h"

#include <cstdlib>
#include <map>
#include <string>
#include <vector>

using namespace dtc::rt;

namespace {

using Variables = std::map<std::string, std::string>;

/// Variables that each launcher sets for the third of four ranks, two to a
/// machine: torchrun of PyTorch 2.15, mpirun of OpenMPI 4.1, srun of Slurm
/// 22.05, and mpiexec.hydra of MPICH 4.0.
const Variables torchrun = {{"RANK", "2"},
                            {"WORLD_SIZE", "4"},
                            {"LOCAL_RANK", "0"},
                            {"LOCAL_WORLD_SIZE", "2"},
                            {"MASTER_PORT", "29500"},
                            {"TORCHELASTIC_RUN_ID", "job"},
                            {"TORCHELASTIC_RESTART_COUNT", "1"}};
const Variables mpirun = {{"OMPI_COMM_WORLD_RANK", "2"},
                          {"OMPI_COMM_WORLD_SIZE", "4"},
                          {"OMPI_COMM_WORLD_LOCAL_RANK", "0"},
                          {"OMPI_COMM_WORLD_LOCAL_SIZE", "2"},
                          {"PMIX_RANK", "2"},
                          {"PMIX_NAMESPACE", "job"}};
const Variables srun = {{"SLURM_JOB_ID", "7"},
                        {"SLURM_STEP_ID", "1"},
                        {"SLURM_PROCID", "2"},
                        {"SLURM_NTASKS", "4"},
                        {"SLURM_LOCALID", "0"},
                        {"SLURM_NODEID", "1"},
                        {"SLURM_STEP_TASKS_PER_NODE", "2(x2)"}};
const Variables mpiexec = {{"PMI_RANK", "2"},
                           {"PMI_SIZE", "4"},
                           {"PMI_FD", "6"},
                           {"MPI_LOCALRANKID", "0"},
                           {"MPI_LOCALNRANKS", "2"}};
const Variables prun = {{"PMIX_RANK", "2"}, {"PMIX_NAMESPACE", "job"}};

/// Sets these variables of this process, and unsets those of other launchers,
/// during the object's lifetime.
class Given {
public:
  Given(std::initializer_list<Variables> all) {
    clear();
    for (const Variables &variables : all)
      for (const auto &[name, value] : variables)
        setenv(name.c_str(), value.c_str(), 1);
  }
  ~Given() { clear(); }

private:
  static void clear() {
    unsetenv("MASTER_ADDR");
    for (const Variables &variables : {torchrun, mpirun, srun, mpiexec, prun})
      for (const auto &[name, value] : variables)
        unsetenv(name.c_str());
  }
};

} // namespace

TEST(Environment, KnowsTheRankOfEachLauncher) {
  struct Case {
    Variables variables;
    Launcher launcher;
    bool servesMpi;
    const char *job;
  };
  for (const Case &one :
       {Case{torchrun, Launcher::torchrun, false, "job.29500.1"},
        Case{mpirun, Launcher::openMpi, true, "job"},
        Case{srun, Launcher::slurm, false, "7.1"},
        Case{mpiexec, Launcher::pmi, false, ""}}) {
    SCOPED_TRACE(one.variables.begin()->first);
    Given given{one.variables};
    Environment found = Environment::get();
    EXPECT_EQ(found.launcher, one.launcher);
    EXPECT_EQ(found.servesMpi, one.servesMpi);
    EXPECT_EQ(found.rank, 2);
    EXPECT_EQ(found.size, 4);
    EXPECT_EQ(found.localRank, 0);
    EXPECT_EQ(found.localSize, 2);
    EXPECT_EQ(jobName(found), one.job);
  }
  Given none{};
  EXPECT_EQ(Environment::get().launcher, Launcher::none);
}

TEST(Environment, LeavesTheRestOfPmixToMpi) {
  Given given{prun};
  Environment found = Environment::get();
  EXPECT_EQ(found.launcher, Launcher::pmix);
  EXPECT_TRUE(found.servesMpi);
  EXPECT_EQ(found.rank, 2);
  EXPECT_EQ(jobName(found), "job");
}

TEST(Environment, TakesTheInnermost) {
  auto launcherOf = [](std::initializer_list<Variables> all) {
    Given given(all);
    return Environment::get().launcher;
  };
  EXPECT_EQ(launcherOf({srun, torchrun}), Launcher::torchrun);
  EXPECT_EQ(launcherOf({mpirun, torchrun}), Launcher::torchrun);
  EXPECT_EQ(launcherOf({srun, mpirun}), Launcher::openMpi);
  EXPECT_EQ(launcherOf({srun, mpiexec}), Launcher::slurm); // srun --mpi=pmi2
  EXPECT_EQ(launcherOf({srun, prun}), Launcher::slurm);    // srun --mpi=pmix
  Given given{srun, prun};
  EXPECT_TRUE(Environment::get().servesMpi);
}

TEST(Environment, RefusesNonsense) {
  auto get = [](Variables changed, const char *name, const char *value) {
    changed[name] = value;
    Given given{changed};
    return Environment::get();
  };
  EXPECT_ERROR(get(mpiexec, "PMI_RANK", "x"),
               "the environment has PMI_RANK='x', expected a number");
  EXPECT_ERROR(get(mpiexec, "PMI_RANK", "4"),
               "the environment has PMI_RANK=4 and PMI_SIZE=4, expected");
  EXPECT_ERROR(get(mpiexec, "MPI_LOCALNRANKS", "8"),
               "the environment has MPI_LOCALNRANKS=8, more than PMI_SIZE=4");
  EXPECT_ERROR(get({}, "PMI_RANK", "0"),
               "the environment has PMI_RANK, but no PMI_SIZE; mpiexec sets");
  EXPECT_ERROR(get({}, "PMIX_RANK", "-1"),
               "the environment has PMIX_RANK='-1', expected a number");
}
