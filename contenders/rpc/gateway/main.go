// Command gateway is gRPC-Gateway: HTTP with JSON in front of a gRPC service,
// which is reached over a connection or called in the same process.
package main

import (
	"github.com/tarebench/tare/contender/rpc"
	"github.com/tarebench/tare/contenders/rpc/gateway/face"
)

func main() { rpc.Main(face.New()) }
