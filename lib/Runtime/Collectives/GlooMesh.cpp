//===- GlooMesh.cpp - messages between all ranks through Gloo -------------===//

#include "GlooMesh.h"

#include "Core/Checksum.h"
#include "Core/Error.h"
#include "Core/Fatal.h"
#include "Describe.h"
#include "Program/Context.h"
#include "Rendezvous.h"
#include "System/Machine.h"
#include "TcpExchange.h"

#include <arpa/inet.h>
#include <chrono>
#include <cstdlib>
#include <cstring>
#include <gloo/context.h>
#include <gloo/transport/address.h>
#include <gloo/transport/context.h>
#include <gloo/transport/tcp/device.h>
#include <ifaddrs.h>
#include <net/if.h>
#include <netdb.h>
#include <netinet/tcp.h>
#include <sys/stat.h>
#include <thread>
#include <unistd.h>
#include <vector>

using namespace dtc::rt;

//===----------------------------------------------------------------------===//
// Addresses of ranks
//===----------------------------------------------------------------------===//

uint64_t GlooMesh::thisMachine() {
  // Containers with networks of their own count as machines.
  struct stat network = {};
  stat("/proc/self/ns/net", &network);
  return Checksum::of(bootId() + std::to_string(network.st_ino));
}

static std::string textOf(const sockaddr *address, socklen_t length) {
  char text[NI_MAXHOST] = "";
  getnameinfo(address, length, text, sizeof text, nullptr, 0, NI_NUMERICHOST);
  return text;
}

/// The address of this machine on the route to rank 0; empty if there is none.
static std::string addressTowards(const MasterAddress &master) {
  addrinfo hints = {}, *found = nullptr;
  hints.ai_socktype = SOCK_DGRAM;
  if (getaddrinfo(master.host.c_str(), std::to_string(master.port).c_str(),
                  &hints, &found) != 0)
    return {};
  std::string text;
  for (addrinfo *to = found; to && text.empty(); to = to->ai_next) {
    int file = socket(to->ai_family, SOCK_DGRAM | SOCK_CLOEXEC, 0);
    sockaddr_storage own = {};
    socklen_t length = sizeof own;
    auto *address = reinterpret_cast<sockaddr *>(&own);
    if (file >= 0 && connect(file, to->ai_addr, to->ai_addrlen) == 0 &&
        getsockname(file, address, &length) == 0)
      text = textOf(address, length);
    if (file >= 0)
      close(file);
  }
  freeaddrinfo(found);
  return text;
}

/// The first that other machines may reach.
static std::string firstAddress() {
  ifaddrs *all = nullptr;
  if (getifaddrs(&all) != 0)
    return {};
  std::string text;
  for (int family : {AF_INET, AF_INET6})
    for (ifaddrs *one = all; one && text.empty(); one = one->ifa_next)
      if (one->ifa_addr && one->ifa_addr->sa_family == family &&
          (one->ifa_flags & IFF_UP) && !(one->ifa_flags & IFF_LOOPBACK))
        text = textOf(one->ifa_addr, family == AF_INET ? sizeof(sockaddr_in)
                                                       : sizeof(sockaddr_in6));
  freeifaddrs(all);
  return text;
}

static gloo::transport::tcp::attr chooseAddress(const Environment &own) {
  gloo::transport::tcp::attr address("127.0.0.1");
  // As for PyTorch's Gloo.
  if (const char *interface = getenv("GLOO_SOCKET_IFNAME")) {
    address.hostname.clear();
    address.iface = interface;
    return address;
  }
  if (own.localSize == own.size)
    return address;
  std::string text;
  if (std::optional<MasterAddress> master = MasterAddress::get())
    text = addressTowards(*master);
  if (text.empty() || text.compare(0, 4, "127.") == 0 || text == "::1")
    if (std::string other = firstAddress(); !other.empty())
      text = other;
  if (!text.empty())
    address.hostname = text;
  return address;
}

//===----------------------------------------------------------------------===//
// Connections
//===----------------------------------------------------------------------===//

/// Connects Gloo by the addresses of our own rendezvous.
class GlooMesh::Connections : public gloo::Context {
public:
  Connections(const Environment &own, const std::string &rendezvous,
              int timeout)
      : gloo::Context(own.rank, own.size) {
    device_ = gloo::transport::tcp::CreateDevice(chooseAddress(own));
    transportContext_ = device_->createContext(rank, size);
    // Gloo's limits are five times the timeout, for connections and for
    // messages, because the watchdog reports first.
    transportContext_->setTimeout(std::chrono::seconds(timeout));
    constexpr size_t room = gloo::transport::Address::kMaxByteSize;
    std::vector<char> addresses(room * size_t(size));
    std::vector<size_t> lengths(static_cast<size_t>(size));
    for (int peer = 0; peer < size; ++peer) {
      if (peer == rank)
        continue;
      std::vector<char> bytes =
          transportContext_->createPair(peer)->address().bytes();
      lengths[size_t(peer)] = bytes.size();
      memcpy(addresses.data() + room * size_t(peer), bytes.data(),
             bytes.size());
    }
    Rendezvous meeting(own, rendezvous, timeout, addresses);
    for (int peer = 0; peer < size; ++peer) {
      if (peer == rank)
        continue;
      const char *place = meeting.all().data() +
                          room * (size_t(size) * size_t(peer) + size_t(rank));
      transportContext_->getPair(peer)->connect(
          {place, place + lengths[size_t(peer)]});
    }
    setUpSockets(timeout);
  }

  gloo::transport::Context &transport() { return *transportContext_; }

private:
  /// Asks the system to notice a lost machine within `timeout` seconds. Gloo
  /// does not show its sockets, but the process has no other connections.
  static void setUpSockets(int timeout);
};

void GlooMesh::Connections::setUpSockets(int timeout) {
  constexpr int probes = 4;
  int on = 1, idle = std::max(1, timeout / (2 * probes)), most = probes,
      milliseconds = timeout * 1000;
  for (int file = 0; file < 1 << 16; ++file) {
    sockaddr_storage peer;
    socklen_t length = sizeof peer;
    auto *address = reinterpret_cast<sockaddr *>(&peer);
    if (getpeername(file, address, &length) != 0 ||
        (peer.ss_family != AF_INET && peer.ss_family != AF_INET6))
      continue;
    setsockopt(file, SOL_SOCKET, SO_KEEPALIVE, &on, sizeof on);
    setsockopt(file, IPPROTO_TCP, TCP_KEEPIDLE, &idle, sizeof idle);
    setsockopt(file, IPPROTO_TCP, TCP_KEEPINTVL, &idle, sizeof idle);
    setsockopt(file, IPPROTO_TCP, TCP_KEEPCNT, &most, sizeof most);
    setsockopt(file, IPPROTO_TCP, TCP_USER_TIMEOUT, &milliseconds,
               sizeof milliseconds);
  }
}

GlooMesh::GlooMesh(const Environment &environment,
                   const std::string &rendezvous, int timeout)
    : environment(environment) {
  try {
    connections =
        std::make_unique<Connections>(environment, rendezvous, timeout);
  } catch (const Error &) {
    throw;
  } catch (const std::exception &error) {
    fail("rank %d does not reach the other ranks: %s; see whether their "
         "machines reach each other, or name the network with "
         "GLOO_SOCKET_IFNAME",
         rank(), error.what());
  }
}

GlooMesh::~GlooMesh() = default;

//===----------------------------------------------------------------------===//
// Messages
//===----------------------------------------------------------------------===//

struct GlooMesh::Message::State {
  std::unique_ptr<gloo::transport::UnboundBuffer> buffer;
  int peer;
  bool sends;
};

GlooMesh::Message::Message() = default;
GlooMesh::Message::Message(Message &&) noexcept = default;
GlooMesh::Message &GlooMesh::Message::operator=(Message &&) noexcept = default;
GlooMesh::Message::~Message() = default;

/// "Connection reset by peer" of Gloo's "[FILE:LINE] Connection ...".
static const char *reasonOf(const std::exception &error) {
  const char *bracket = strstr(error.what(), "] ");
  return bracket ? bracket + 2 : error.what();
}

/// Waits before it fails: the thread that watches the ranks of this machine
/// knows better which of them is lost, and reports it first. A connection also
/// breaks when its other end has noticed that a third rank is lost.
[[noreturn]] static void failOn(int peer, const std::exception &error) {
  std::this_thread::sleep_for(std::chrono::milliseconds(500));
  fatal("rank %d is lost: %s; %s", peer, reasonOf(error), afterLoss);
}

GlooMesh::Message GlooMesh::begin(bool sends, int peer, uint64_t number,
                                  void *buffer, int64_t bytes) {
  Message message;
  if (bytes == 0)
    return message;
  try {
    auto unbound =
        connections->transport().createUnboundBuffer(buffer, size_t(bytes));
    if (sends)
      unbound->send(peer, number);
    else
      unbound->recv(peer, number);
    message.state = std::make_unique<Message::State>(
        Message::State{std::move(unbound), peer, sends});
  } catch (const std::exception &error) {
    failOn(peer, error);
  }
  return message;
}

GlooMesh::Message GlooMesh::send(int peer, uint64_t number, const void *buffer,
                                 int64_t bytes) {
  return begin(true, peer, number, const_cast<void *>(buffer), bytes);
}

GlooMesh::Message GlooMesh::receive(int peer, uint64_t number, void *buffer,
                                    int64_t bytes) {
  return begin(false, peer, number, buffer, bytes);
}

constexpr std::chrono::hours always(24 * 365);

void GlooMesh::receiveAny(const std::vector<int> &peers, uint64_t number,
                          void *buffer, int64_t bytes) {
  try {
    auto unbound =
        connections->transport().createUnboundBuffer(buffer, size_t(bytes));
    unbound->recv(peers, number);
    unbound->waitRecv(always);
  } catch (const std::exception &error) {
    fatal("a worker is lost: %s; %s", reasonOf(error), afterLoss);
  }
}

void GlooMesh::Message::wait() {
  if (!state)
    return;
  try {
    if (state->sends)
      state->buffer->waitSend(always);
    else
      state->buffer->waitRecv(always);
  } catch (const std::exception &error) {
    failOn(state->peer, error);
  }
  state.reset();
}
