// Command grpc serves app users with grpc-go, with a generated server and client. Its
// middleware consists of interceptors.
package main

import (
	"github.com/tarebench/tare/contender/rpc"
	"github.com/tarebench/tare/contenders/rpc/grpc/api"
)

func main() { rpc.Main(api.New()) }
