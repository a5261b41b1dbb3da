package cli

import (
	"os"

	"github.com/tarebench/tare/apps/tiny/serving"
	"github.com/tarebench/tare/contender/server"
	"github.com/tarebench/tare/contender/wire"
)

// NullMain serves as the null contender of another tare and does not return, if this process was started
// as one. A program that runs [Main] calls it first.
func NullMain() {
	if os.Getenv(wire.EnvWire) != "" {
		server.Main(server.Apps{server.Plain("", server.Null{Answer: server.Anything}.Serve), serving.Null()})
	}
}
