// Command null is a server that does as little work as possible, so that a
// measurement of it is that of the harness, the network and the kernel.
package main

import (
	"github.com/tarebench/tare/apps/tiny/serving"
	"github.com/tarebench/tare/contender/server"
)

func main() {
	server.Main(server.Apps{serving.Null(), server.Plain("", server.Null{Answer: server.Anything}.Serve)})
}
