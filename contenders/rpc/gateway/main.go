// Command gateway serves app users with gRPC-Gateway, which converts HTTP with JSON to
// gRPC. Its variants call the gRPC service over a connection, or directly in the same
// process.
package main

import (
	"github.com/tarebench/tare/contender/rpc"
	"github.com/tarebench/tare/contenders/rpc/gateway/api"
)

func main() { rpc.Main(api.New()) }
