// Command grpc is grpc-go, with a generated server and client. Its layers are
// interceptors.
package main

import (
	"github.com/tarebench/tare/contender/rpc"
	"github.com/tarebench/tare/contenders/rpc/grpc/face"
)

func main() { rpc.Main(face.New()) }
