// Command null is a server that does as little as possible. It shows the cost of the measurement itself, of the
// network and of the kernel. It serves app tiny, a small HTTP API, correctly. Its other app, which has no name,
// sends one response to all requests.
package main

import (
	"github.com/tarebench/tare/apps/tiny/serving"
	"github.com/tarebench/tare/contender/server"
)

func main() {
	server.Main(server.Apps{serving.Null(), server.Plain("", server.Null{Answer: server.Anything}.Serve)})
}
