package cli

import (
	"os"

	"github.com/tarebench/tare/apps/tiny/serving"
	"github.com/tarebench/tare/contender/server"
	"github.com/tarebench/tare/contender/wire"
)

// NullMain checks whether another tare has started this process as its null contender, a server that does
// nothing. If so, it serves and does not return. A program that runs [Main] calls it first.
func NullMain() {
	if os.Getenv(wire.EnvWire) != "" {
		server.Main(server.Apps{server.Plain("", server.Null{Answer: server.Anything}.Serve), serving.Null()})
	}
}
