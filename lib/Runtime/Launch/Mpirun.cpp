//===- Mpirun.cpp - a program that starts its own ranks -------------------===//

#include "Mpirun.h"

#include "Core/Error.h"
#include "LauncherMessages.h"
#include "RankWatch.h"
#include "Signals.h"
#include "StopRequests.h"
#include "System/OtherProcess.h"
#include "System/WriteFile.h"

#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fcntl.h>
#include <filesystem>
#include <optional>
#include <poll.h>
#include <sys/ioctl.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <thread>
#include <unistd.h>

using namespace dtc::rt;

using Clock = std::chrono::steady_clock;

/// Time for mpirun to end after SIGTERM. It gives ranks one second.
static constexpr std::chrono::seconds endTime(5);

static volatile sig_atomic_t launcher, signalOfStop, isTerminated;
static StopRequests requests;

/// Forwards a signal to mpirun. A second request ends the ranks at once.
static void passOn(int) {
  int number = requests.isAnother() ? SIGTERM : signalOfStop;
  isTerminated = isTerminated || number == SIGTERM;
  kill(pid_t(launcher), number);
}

/// Messages of mpirun and the ranks on standard error, through a pipe.
class ShownMessages {
public:
  explicit ShownMessages(int pipe) : pipe(pipe) {
    fcntl(pipe, F_SETFL, O_NONBLOCK);
  }
  ~ShownMessages() { close(pipe); }
  ShownMessages(const ShownMessages &) = delete;

  /// The pipe, for poll; -1 after its last writer has ended.
  int file() const { return isOpen ? pipe : -1; }
  /// Shows the messages that are in the pipe now.
  void show() {
    char buffer[4096];
    ssize_t size = 1;
    while (isOpen && size > 0) {
      size = read(pipe, buffer, sizeof buffer);
      if (size > 0)
        write(messages.add({buffer, size_t(size)}));
      isOpen = size > 0 || (size < 0 && (errno == EINTR || errno == EAGAIN));
    }
  }
  void finish(const std::string &program, bool failed) {
    show();
    write(messages.finish(program, failed));
  }

private:
  static void write(const std::string &text) { writeAll(STDERR_FILENO, text); }

  LauncherMessages messages;
  int pipe;
  bool isOpen = true;
};

/// Starts mpirun with the signal mask `signals`. It ends with this process, and
/// writes its messages to `pipe`.
static pid_t start(const std::vector<char *> &arguments, int pipe,
                   const sigset_t &signals) {
  pid_t parent = getpid();
  pid_t child = fork();
  if (child < 0)
    fail("cannot start mpirun: %s", strerror(errno));
  if (child > 0)
    return child;
  // A process group of its own: signals of the terminal reach mpirun through
  // the parent.
  setpgid(0, 0);
  prctl(PR_SET_PDEATHSIG, SIGTERM);
  if (getppid() != parent)
    _exit(1);
  if (int none = open("/dev/null", O_RDONLY); none >= 0)
    dup2(none, STDIN_FILENO);
  dup2(pipe, STDERR_FILENO);
  sigprocmask(SIG_SETMASK, &signals, nullptr);
  execvp(arguments[0], arguments.data());
  int error = errno;
  dprintf(STDERR_FILENO,
          "error: cannot run mpirun: %s; install OpenMPI (openmpi-bin)\n",
          strerror(error));
  _exit(1);
}

/// Runs mpirun and returns its exit status. mpirun ends ranks one second after
/// SIGTERM, and forwards SIGUSR1, after which ranks take the time that they
/// need to save. If mpirun hangs, it gets SIGKILL, and LauncherWatch ends the
/// ranks.
static int supervise(const std::vector<char *> &arguments,
                     const Options &options) {
  signalOfStop = options.savesTraining() ? SIGUSR1 : SIGTERM;
  int ends[2];
  if (pipe2(ends, O_CLOEXEC) != 0)
    fail("cannot start mpirun: %s", strerror(errno));
  ShownMessages messages(ends[0]);
  // Signals are blocked before mpirun starts, so that none is lost, and are
  // handled in ppoll only.
  sigset_t handled, before;
  sigemptyset(&handled);
  for (int number : {SIGINT, SIGTERM, SIGUSR1, SIGHUP})
    if (!isIgnored(number)) // as by nohup
      sigaddset(&handled, number);
  sigprocmask(SIG_BLOCK, &handled, &before);
  signal(SIGCHLD, SIG_DFL); // ignored, it would lose the exit status
  pid_t child = start(arguments, ends[1], before);
  close(ends[1]);
  launcher = child;
  for (int number : {SIGINT, SIGTERM, SIGUSR1, SIGHUP})
    if (sigismember(&handled, number))
      signal(number, passOn);
  OtherProcess process(child);
  RankWatch ranks(child);
  std::optional<Clock::time_point> latestEnd;
  int status = 0;
  while (waitpid(child, &status, WNOHANG) == 0) {
    if (ranks.isWithoutRanks(std::chrono::seconds(options.timeout))) {
      kill(child, SIGKILL);
      messages.show();
      fail("mpirun has had no rank for %d s: it hangs; see whether 'mpirun -n "
           "1 true' ends here, with the same limits (ulimit -a)",
           options.timeout);
    }
    Clock::time_point now = Clock::now();
    if (isTerminated && !latestEnd)
      latestEnd = now + endTime;
    if (latestEnd && now > *latestEnd) {
      fprintf(stderr,
              "%s: mpirun has not ended %d s after SIGTERM, and gets SIGKILL\n",
              options.name.c_str(), int(endTime.count()));
      kill(child, SIGKILL);
      // The program does not wait for it: a process that the system cannot end
      // would hang this one, too.
      status = SIGKILL;
      break;
    }
    pollfd ready[] = {{process.file(), POLLIN, 0},
                      {messages.file(), POLLIN, 0}};
    timespec soon = {0, 100000000}, later = {1, 0};
    ppoll(ready, 2, process.file() < 0 || latestEnd ? &soon : &later, &before);
    messages.show();
  }
  messages.finish(options.name, !WIFEXITED(status) || WEXITSTATUS(status) != 0);
  return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

int dtc::rt::relaunch(const Program &program, const Options &options, int argc,
                      char **argv) {
  bool isOpen = program.mesh.openAxis >= 0;
  if (isOpen ? options.processes % program.mesh.size() != 0
             : options.processes != program.mesh.size())
    fail("found --nproc %d, expected --nproc %s%d: this program was compiled "
         "for %s",
         options.processes, isOpen ? "with a multiple of " : "",
         program.mesh.size(), program.mesh.describe().c_str());
  std::vector<std::string> words = {"mpirun", "--oversubscribe", "-n",
                                    std::to_string(options.processes)};
  // Ranks that share cores must not be bound to them: two would share one
  // while others idle.
  if (options.processes > int(std::thread::hardware_concurrency()))
    words.insert(words.end(), {"--bind-to", "none"});
  words.push_back(std::filesystem::read_symlink("/proc/self/exe").string());
  words.insert(words.end(), argv + 1, argv + argc);
  // Below mpirun a rank cannot see whether the user has a terminal.
  if (options.progress == ProgressStyle::automatic && isatty(STDOUT_FILENO))
    words.push_back("--progress=bar");
  winsize window{};
  if (ioctl(STDOUT_FILENO, TIOCGWINSZ, &window) == 0 && window.ws_col > 0)
    setenv("COLUMNS", std::to_string(window.ws_col).c_str(), 1);
  if (geteuid() == 0) {
    setenv("OMPI_ALLOW_RUN_AS_ROOT", "1", 1);
    setenv("OMPI_ALLOW_RUN_AS_ROOT_CONFIRM", "1", 1);
  }
  std::vector<char *> arguments;
  arguments.reserve(words.size() + 1);
  for (std::string &word : words)
    arguments.push_back(word.data());
  arguments.push_back(nullptr);
  return supervise(arguments, options);
}
