// Command all serves app users over all transports, with one store. As a standalone service it serves all
// of them at the same time. In a study each workload selects one.
package main

import (
	"github.com/tarebench/tare/contender/rpc"
	connect "github.com/tarebench/tare/contenders/rpc/connect/api"
	gateway "github.com/tarebench/tare/contenders/rpc/gateway/api"
	gin "github.com/tarebench/tare/contenders/rpc/gin/api"
	grpc "github.com/tarebench/tare/contenders/rpc/grpc/api"
	nethttp "github.com/tarebench/tare/contenders/rpc/nethttp/api"
)

func main() { rpc.All(listTransports()) }

// listTransports returns the transports by name.
func listTransports() map[string]rpc.Face {
	return map[string]rpc.Face{
		"connect": connect.New(),
		"gateway": gateway.New(),
		"gin":     gin.New(),
		"grpc":    grpc.New(),
		"nethttp": nethttp.New(),
	}
}
