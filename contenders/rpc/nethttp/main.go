// Command nethttp serves app users with the standard library only: a ServeMux with
// patterns, and encoding/json.
package main

import (
	"github.com/tarebench/tare/contender/rpc"
	"github.com/tarebench/tare/contenders/rpc/nethttp/face"
)

func main() { rpc.Main(face.New()) }
