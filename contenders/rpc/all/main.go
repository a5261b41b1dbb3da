// Command all is every face in one program over one store: side by side where it
// is started alone, one at a time under a lab.
package main

import (
	"github.com/tarebench/tare/contender/rpc"
	connect "github.com/tarebench/tare/contenders/rpc/connect/face"
	gateway "github.com/tarebench/tare/contenders/rpc/gateway/face"
	gin "github.com/tarebench/tare/contenders/rpc/gin/face"
	grpc "github.com/tarebench/tare/contenders/rpc/grpc/face"
	nethttp "github.com/tarebench/tare/contenders/rpc/nethttp/face"
)

func main() { rpc.All(faces()) }

func faces() map[string]rpc.Face {
	return map[string]rpc.Face{
		"connect": connect.New(),
		"gateway": gateway.New(),
		"gin":     gin.New(),
		"grpc":    grpc.New(),
		"nethttp": nethttp.New(),
	}
}
