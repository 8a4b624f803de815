//===- Machine.h - a GPU that a host pretends to have -----------*- C++ -*-===//
//
// Streams are lists of operations, which are done only when the host waits for
// them, in an order drawn at random from those that streams and events allow.
// Each operation says which bytes it reads and writes: two that no stream or
// event orders, and of which one writes, end the process with a message. So do
// accesses to memory that was never allocated, or was freed.
//
//===----------------------------------------------------------------------===//

#ifndef DTC_TEST_STANDINS_MACHINE_H
#define DTC_TEST_STANDINS_MACHINE_H

#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <random>
#include <string>
#include <vector>

namespace dtc::standin {

/// Ends the process: a test expects this.
[[noreturn, gnu::format(printf, 1, 2)]] void fault(const char *pattern, ...);

struct Access {
  const void *address;
  uint64_t bytes;
  bool writes;
};

/// The number of operations of each stream that precede something.
using Clock = std::map<int, uint64_t>;

struct Operation {
  std::string name;
  std::vector<Access> accesses;
  /// Does it, or says that it is not ready yet: it waits for other ranks.
  std::function<bool()> tryRun;
  Clock before; ///< what is done before it
  int stream;
  uint64_t number; ///< in its stream, from 1
};

struct Event {
  Clock reached;             ///< what it waits for
  uint64_t captureOf = 0;    ///< the capture that recorded it last; 0: none did
  std::vector<size_t> after; ///< of that capture: what it waits for
  /// Nanoseconds, when that was done; null if nobody asks.
  std::shared_ptr<int64_t> time;
};

/// The result of a call of the driver during the capture of a stream.
enum class Captured {
  fine,
  unsupported,
  invalidated,
  isolation,
  unjoined,
  event
};

/// Operations that were captured instead of done.
struct Graph {
  struct Node {
    Operation operation;
    std::vector<size_t> after;
  };
  std::vector<Node> nodes;
};

class Machine {
public:
  static Machine &get();

  //===--- Memory ---------------------------------------------------------===//
  void *allocate(uint64_t bytes);
  void free(void *address);
  /// Whether all bytes are in one allocation.
  bool isAllocated(const void *address, uint64_t bytes) const;

  //===--- Streams --------------------------------------------------------===//
  int createStream();
  /// Puts an operation on a stream, or into the graph that it is captured into.
  void add(int stream, std::string name, std::vector<Access> accesses,
           std::function<bool()> tryRun);
  void record(Event &event, int stream);
  Captured wait(int stream, const Event &event);
  /// Whether these operations are done. Then whatever the host adds comes after
  /// them.
  bool query(const Clock &clock);
  /// Does operations until these are done.
  void finish(const Clock &clock);
  Clock getClock(int stream) const;

  //===--- Graphs ---------------------------------------------------------===//
  // During a capture nothing is done. A call that is not allowed ends it in an
  // error, as with the driver.
  void beginCapture(int stream);
  Captured endCapture(int stream, std::unique_ptr<Graph> &graph);
  bool isCapturing() const { return capture != nullptr; }
  bool isCaptured(int stream) const {
    return capture && captured.count(stream) != 0;
  }
  /// Ends the capture in an error, if there is one.
  Captured invalidate(Captured why);
  void launch(const Graph &graph, int stream);

  uint64_t draw() { return random(); }

  /// Whether the program is to have a bug here: DTC_STANDIN_BUG is KIND:NUMBER
  /// or KIND:NUMBER:RANK, the number counting from 1 how often this was asked.
  bool hasBug(const std::string &kind);

private:
  Machine();
  ~Machine();
  struct Stream {
    std::deque<Operation> waiting;
    uint64_t added = 0, done = 0;
    Clock clock; ///< what everything that is added from now on comes after
  };
  bool isDone(const Clock &clock) const;
  bool isReady(const Operation &operation) const;
  void check(const Operation &operation);
  void noteAccess(const Operation &operation, const Access &access);

  /// The last accesses to a range of bytes.
  struct Touch {
    uint64_t end;
    std::string writer;
    Clock written;
    /// By name: what has read since.
    std::map<std::string, Clock> readers;
  };
  void split(uint64_t address);

  std::mt19937_64 random;
  std::vector<Stream> streams;
  Clock seen;                               ///< what the host knows to be done
  std::map<uint64_t, uint64_t> allocations; ///< end, by begin
  std::map<uint64_t, Touch> touches;        ///< by begin
  std::map<std::string, uint64_t> counts;   ///< operations, by the name's start
  std::map<std::string, uint64_t> asked;    ///< how often, by kind of bug
  // State of a capture: streams that have joined it, and the predecessors of
  // their next operation.
  std::unique_ptr<Graph> capture;
  std::map<int, std::vector<size_t>> captured;
  uint64_t captures = 0; ///< how many began
  bool isInvalid = false;
  /// State of graph launches: for each captured stream, the stream that gets
  /// its operations.
  std::map<int, int> replayed;
};

} // namespace dtc::standin

#endif // DTC_TEST_STANDINS_MACHINE_H
