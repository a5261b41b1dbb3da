// Command gin serves app users with gin in release mode, without gin's default middleware.
package main

import (
	"github.com/tarebench/tare/contender/rpc"
	"github.com/tarebench/tare/contenders/rpc/gin/api"
)

func main() { rpc.Main(api.New()) }
