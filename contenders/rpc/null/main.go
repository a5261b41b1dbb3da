// Command null is the service with a minimal server: measurements
// of it show the cost of the harness, the network, the kernel, and the business
// logic itself.
package main

import (
	"github.com/tarebench/tare/contender/rpc"
	"github.com/tarebench/tare/contenders/rpc/null/face"
)

func main() { rpc.Main(face.New()) }
