// Command null serves app users with a minimal server. Its measured cost is the cost of
// the measurement itself, the network, the kernel and the business logic.
package main

import (
	"github.com/tarebench/tare/contender/rpc"
	"github.com/tarebench/tare/contenders/rpc/null/api"
)

func main() { rpc.Main(api.New()) }
