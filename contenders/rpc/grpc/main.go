// Command grpc is grpc-go: server and client of generated code, layers as
// interceptors.
package main

import (
	"github.com/tarebench/tare/contender/rpc"
	"github.com/tarebench/tare/contenders/rpc/grpc/face"
)

func main() { rpc.Main(face.New()) }
