// Command null is the service behind the least that can be called a server: what
// is measured of it is the harness, the network, the kernel, and the business
// logic itself.
package main

import (
	"github.com/tarebench/tare/contender/rpc"
	"github.com/tarebench/tare/contenders/rpc/null/face"
)

func main() { rpc.Main(face.New()) }
