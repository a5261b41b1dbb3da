// Command null is the service with a minimal server. Its results are the cost of the
// measurement itself, the network, the kernel and the business logic.
package main

import (
	"github.com/tarebench/tare/contender/rpc"
	"github.com/tarebench/tare/contenders/rpc/null/face"
)

func main() { rpc.Main(face.New()) }
