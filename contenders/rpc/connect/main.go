// Command connect serves app users with connect-go. One handler serves the protocol Connect, with
// protocol buffers or JSON, and gRPC, over HTTP/1.1 and HTTP/2.
package main

import (
	"github.com/tarebench/tare/contender/rpc"
	"github.com/tarebench/tare/contenders/rpc/connect/api"
)

func main() { rpc.Main(api.New()) }
