// Command nethttp serves app users with the standard library only: a ServeMux with
// patterns, and encoding/json.
package main

import (
	"github.com/tarebench/tare/contender/rpc"
	"github.com/tarebench/tare/contenders/rpc/nethttp/api"
)

func main() { rpc.Main(api.New()) }
