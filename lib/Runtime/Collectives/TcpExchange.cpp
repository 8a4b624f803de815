//===- TcpExchange.cpp - ranks meet at rank 0 over TCP -----------------===//

#include "TcpExchange.h"

#include "Core/Checksum.h"
#include "Core/Error.h"

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstdlib>
#include <cstring>
#include <netdb.h>
#include <netinet/in.h>
#include <poll.h>
#include <sys/socket.h>
#include <thread>
#include <unistd.h>
#include <utility>
#include <vector>

using namespace dtc::rt;
using Clock = std::chrono::steady_clock;

namespace {

constexpr int numPorts = MasterAddress::numPorts;
/// The limit of one answer, so that a rank tries the next port.
constexpr std::chrono::milliseconds answerTime(2000);

/// The header of each message: of a rank before its bytes, of rank 0 before the
/// bytes of all.
struct Greeting {
  char magic[8];
  uint64_t job; ///< a hash
  int32_t rank, size;

  Greeting(const std::string &name, const Environment &environment)
      : job(Checksum::of(name)), rank(environment.rank),
        size(environment.size) {
    memcpy(magic, "dtc-tcp2", sizeof magic);
  }
  /// Whether the other end is of the same job.
  bool matches(const Greeting &other) const {
    return memcmp(magic, other.magic, sizeof magic) == 0 && job == other.job &&
           size == other.size;
  }
};

class Socket {
public:
  explicit Socket(int file) : file(file) {}
  ~Socket() {
    if (file >= 0)
      close(file);
  }
  Socket(Socket &&other) noexcept : file(std::exchange(other.file, -1)) {}
  Socket &operator=(Socket &&other) noexcept {
    std::swap(file, other.file);
    return *this;
  }

  int number() const { return file; }
  bool isOpen() const { return file >= 0; }

  /// Whether the socket is ready for these events of poll before the deadline.
  bool await(short events, Clock::time_point deadline) const {
    auto left =
        std::chrono::ceil<std::chrono::milliseconds>(deadline - Clock::now());
    pollfd entry = {file, events, 0};
    return poll(&entry, 1, int(std::max<int64_t>(left.count(), 0))) == 1;
  }
  /// Both functions return whether all bytes were sent or received before the
  /// deadline.
  bool sendAll(const void *bytes, size_t size,
               Clock::time_point deadline) const {
    const char *at = static_cast<const char *>(bytes);
    while (size > 0) {
      ssize_t done = await(POLLOUT, deadline)
                         ? send(file, at, size, MSG_NOSIGNAL | MSG_DONTWAIT)
                         : -1;
      if (done <= 0)
        return false;
      at += done;
      size -= size_t(done);
    }
    return true;
  }
  bool receiveAll(void *bytes, size_t size, Clock::time_point deadline) const {
    char *at = static_cast<char *>(bytes);
    while (size > 0) {
      ssize_t done =
          await(POLLIN, deadline) ? recv(file, at, size, MSG_DONTWAIT) : -1;
      if (done <= 0)
        return false;
      at += done;
      size -= size_t(done);
    }
    return true;
  }

private:
  int file;
};

} // namespace

/// The first port that rank 0 tries: torchrun's own server may have the
/// master's port.
static int firstPort(const MasterAddress &master) {
  return master.port + master.isTaken;
}

//===----------------------------------------------------------------------===//
// Rank 0
//===----------------------------------------------------------------------===//

/// A socket that listens, by both versions of IP if there are both; -1 if the
/// port is taken.
static int listenAt(int port) {
  for (int family : {AF_INET6, AF_INET}) {
    int file = socket(family, SOCK_STREAM | SOCK_CLOEXEC, 0);
    int on = 1, off = 0;
    setsockopt(file, SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);
    setsockopt(file, IPPROTO_IPV6, IPV6_V6ONLY, &off, sizeof off);
    addrinfo hints = {}, *any = nullptr;
    hints.ai_family = family;
    hints.ai_socktype = SOCK_STREAM;
    hints.ai_flags = AI_PASSIVE;
    if (getaddrinfo(nullptr, std::to_string(port).c_str(), &hints, &any) != 0)
      any = nullptr;
    bool listens = any && bind(file, any->ai_addr, any->ai_addrlen) == 0 &&
                   listen(file, SOMAXCONN) == 0;
    if (any)
      freeaddrinfo(any);
    if (listens)
      return file;
    if (file >= 0)
      close(file);
  }
  return -1;
}

/// Collects the bytes of all ranks.
static std::vector<char> serve(const Environment &environment,
                               const MasterAddress &master, const Greeting &own,
                               int timeout, const std::vector<char> &ownBytes) {
  int first = firstPort(master), port = first, file = -1;
  for (; port < first + numPorts && file < 0; ++port)
    file = listenAt(port);
  if (file < 0)
    fail("rank 0 finds no free port from %d to %d, by MASTER_PORT; choose "
         "another",
         first, first + numPorts - 1);
  Socket server(file);
  Clock::time_point end = Clock::now() + std::chrono::seconds(timeout);
  size_t share = ownBytes.size();
  std::vector<char> all = ownBytes;
  all.resize(share * size_t(environment.size));
  std::vector<Socket> clients;
  clients.reserve(size_t(environment.size));
  for (int rank = 0; rank < environment.size; ++rank)
    clients.emplace_back(-1);
  for (int left = environment.size - 1; left > 0;) {
    if (!server.await(POLLIN, end)) {
      int missing = 1;
      while (clients[size_t(missing)].isOpen())
        ++missing;
      fail("%d of %d other ranks have not reached rank 0 at port %d for %d "
           "s, the first is rank %d; see whether they run and reach "
           "MASTER_ADDR=%s, or raise --timeout",
           left, environment.size - 1, port - 1, timeout, missing,
           master.host.c_str());
    }
    Socket client(accept4(server.number(), nullptr, nullptr, SOCK_CLOEXEC));
    Clock::time_point soon = std::min(end, Clock::now() + answerTime);
    Greeting theirs = own;
    if (!client.isOpen() || !client.receiveAll(&theirs, sizeof theirs, soon) ||
        !own.matches(theirs) || theirs.rank < 1 || theirs.rank >= own.size ||
        !client.sendAll(&own, sizeof own, soon) ||
        !client.receiveAll(all.data() + share * size_t(theirs.rank), share,
                           soon))
      continue;
    // A rank that connects again has given up its former connection.
    left -= !clients[size_t(theirs.rank)].isOpen();
    clients[size_t(theirs.rank)] = std::move(client);
  }
  for (int rank = 1; rank < environment.size; ++rank) {
    const Socket &client = clients[size_t(rank)];
    char thanks; // so that no answer is lost when this end is closed
    Clock::time_point soon = Clock::now() + answerTime;
    if (!client.sendAll(all.data(), all.size(), soon) ||
        !client.receiveAll(&thanks, sizeof thanks, soon))
      fail("rank %d left while ranks met at rank 0; see why it ended", rank);
  }
  return all;
}

//===----------------------------------------------------------------------===//
// The others
//===----------------------------------------------------------------------===//

/// Asks rank 0 for all bytes until `end`; returns whether it answered.
static bool ask(const addrinfo &address, const Greeting &own,
                const std::vector<char> &ownBytes, std::vector<char> &all,
                Clock::time_point end) {
  Clock::time_point soon = std::min(end, Clock::now() + answerTime);
  Socket client(socket(address.ai_family,
                       address.ai_socktype | SOCK_NONBLOCK | SOCK_CLOEXEC, 0));
  if (!client.isOpen())
    return false;
  if (connect(client.number(), address.ai_addr, address.ai_addrlen) != 0 &&
      errno != EINPROGRESS)
    return false;
  Greeting theirs = own;
  return client.sendAll(&own, sizeof own, soon) &&
         client.receiveAll(&theirs, sizeof theirs, soon) &&
         own.matches(theirs) && theirs.rank == 0 &&
         client.sendAll(ownBytes.data(), ownBytes.size(), soon) &&
         client.receiveAll(all.data(), all.size(), end) &&
         client.sendAll("", 1, Clock::now() + answerTime);
}

static bool askAt(const MasterAddress &master, int port, const Greeting &own,
                  const std::vector<char> &ownBytes, std::vector<char> &all,
                  Clock::time_point end) {
  addrinfo hints = {}, *found = nullptr;
  hints.ai_socktype = SOCK_STREAM;
  // A name may be known only later, where ranks start with their machines.
  if (getaddrinfo(master.host.c_str(), std::to_string(port).c_str(), &hints,
                  &found) != 0)
    return false;
  bool isDone = false;
  for (addrinfo *address = found; address && !isDone;
       address = address->ai_next)
    isDone = ask(*address, own, ownBytes, all, end);
  freeaddrinfo(found);
  return isDone;
}

std::vector<char> dtc::rt::exchangeByTcp(const Environment &environment,
                                         const MasterAddress &master,
                                         const std::string &job, int timeout,
                                         const std::vector<char> &ownBytes) {
  Greeting own(job, environment);
  if (environment.rank == 0)
    return serve(environment, master, own, timeout, ownBytes);
  Clock::time_point end = Clock::now() + std::chrono::seconds(timeout);
  std::vector<char> all(ownBytes.size() * size_t(environment.size));
  int first = firstPort(master);
  while (Clock::now() < end) {
    for (int port = first; port < first + numPorts; ++port)
      if (askAt(master, port, own, ownBytes, all, end))
        return all;
    std::this_thread::sleep_for(std::chrono::milliseconds(100));
  }
  fail("found no rank 0 of this job at MASTER_ADDR=%s, ports %d to %d, for %d "
       "s; see whether it runs and this machine reaches it, or raise "
       "--timeout",
       master.host.c_str(), first, first + numPorts - 1, timeout);
}
