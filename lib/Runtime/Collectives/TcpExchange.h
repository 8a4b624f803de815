//===- TcpExchange.h - ranks meet at rank 0 over TCP ------------*- C++ -*-===//
//
// As launchers of PyTorch have it: MASTER_ADDR and MASTER_PORT name a place at
// which rank 0 can be reached.
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

/// Returns the bytes of all ranks, by rank, of which each has as many. Rank 0
/// listens at the first free of 16 ports from `master.port` on, and the others
/// look for it there: the launcher may have a server of its own at the first.
/// Nobody listens any more when this returns. `job` is what jobs differ in.
/// Throws an Error when ranks are missing after `timeout` seconds.
std::vector<char> exchangeByTcp(const Environment &environment,
                                const MasterAddress &master,
                                const std::string &job, int timeout,
                                const std::vector<char> &own);

} // namespace dtc::rt

#endif // DTC_LIB_RUNTIME_COLLECTIVES_TCPEXCHANGE_H
