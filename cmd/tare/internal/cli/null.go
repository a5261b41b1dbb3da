package cli

import (
	"os"

	"github.com/tarebench/tare/apps/tiny/serving"
	"github.com/tarebench/tare/contender/server"
	"github.com/tarebench/tare/contender/wire"
)

// NullMain serves as a null contender, a server that does nothing, if another tare has started this
// process for that. Then it does not return. A program that runs [Main] calls it first.
func NullMain() {
	if os.Getenv(wire.EnvWire) != "" {
		server.Main(server.Apps{server.Plain("", server.Null{Answer: server.Anything}.Serve), serving.Null()})
	}
}
