// Command null is the server that does nothing that it need not: what is
// measured of it is the harness, the network and the kernel.
package main

import (
	"github.com/tarebench/tare/apps/tiny/serving"
	"github.com/tarebench/tare/contender/server"
)

func main() {
	server.Main(server.Apps{serving.Null(), server.Plain("", server.Null{Answer: server.Anything}.Serve)})
}
