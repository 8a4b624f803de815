//===- TcpExchange.h - ranks meet at rank 0 over TCP ------------*- C++ -*-===//
//
// The protocol of PyTorch's launchers: MASTER_ADDR and MASTER_PORT are the
// address of rank 0.
//
//===----------------------------------------------------------------------===//

#ifndef DTC_LIB_RUNTIME_COLLECTIVES_TCPEXCHANGE_H
#define DTC_LIB_RUNTIME_COLLECTIVES_TCPEXCHANGE_H

#include "Launch/Environment.h"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace dtc::rt {

/// Returns the bytes of all ranks, by rank; each rank has equally many. Rank 0
/// listens at the first free port from `master.port` on, and the others look
/// for it there: the launcher may have a server of its own at the first. All
/// sockets are closed when this returns. `job` differs between jobs. Throws an
/// Error if ranks are missing after `timeout` seconds.
std::vector<char> exchangeByTcp(const Environment &environment,
                                const MasterAddress &master,
                                const std::string &job, int timeout,
                                const std::vector<char> &own);

} // namespace dtc::rt

#endif // DTC_LIB_RUNTIME_COLLECTIVES_TCPEXCHANGE_H
