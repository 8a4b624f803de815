//===- GlooMesh.h - messages between all ranks through Gloo -----*- C++ -*-===//

#ifndef DTC_LIB_RUNTIME_COLLECTIVES_GLOOMESH_H
#define DTC_LIB_RUNTIME_COLLECTIVES_GLOOMESH_H

#include "Launch/Environment.h"

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

namespace dtc::rt {

class GlooMesh {
public:
  /// Connects this rank with all others. Throws an Error if they do not meet
  /// within `timeout` seconds.
  GlooMesh(const Environment &environment, const std::string &rendezvous,
           int timeout);
  ~GlooMesh();
  GlooMesh(const GlooMesh &) = delete;

  int rank() const { return environment.rank; }
  int size() const { return environment.size; }
  /// A number that is equal on all ranks of one machine.
  static uint64_t thisMachine();

  /// A message that has begun. Its memory must not be touched until the wait.
  class Message {
  public:
    Message();
    Message(Message &&) noexcept;
    Message &operator=(Message &&) noexcept;
    ~Message();

    /// Any thread may wait. A connection that breaks ends the job.
    void wait();

  private:
    friend class GlooMesh;
    struct State;
    std::unique_ptr<State> state; ///< null: done
  };
  /// Messages of one `number` between two ranks match in the order in which
  /// they begin. Any thread may begin one.
  Message send(int peer, uint64_t number, const void *buffer, int64_t bytes);
  Message receive(int peer, uint64_t number, void *buffer, int64_t bytes);
  /// Waits for the first message of any of these ranks.
  void receiveAny(const std::vector<int> &peers, uint64_t number, void *buffer,
                  int64_t bytes);

private:
  class Connections;
  Message begin(bool sends, int peer, uint64_t number, void *buffer,
                int64_t bytes);

  Environment environment;
  std::unique_ptr<Connections> connections;
};

} // namespace dtc::rt

#endif // DTC_LIB_RUNTIME_COLLECTIVES_GLOOMESH_H
