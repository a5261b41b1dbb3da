//go:build unix

package http3

import (
	"os"
	"runtime/debug"
	"testing"
	"time"

	"github.com/tarebench/tare/internal/machine"
	"github.com/tarebench/tare/load"
)

// A connection of QUIC costs at most 512 KiB of resident memory. The test logs the memory of the process with all
// connections open: 500, or 10,000 with TARE_SOAK.
func TestMemoryOfConnections(t *testing.T) {
	if testing.Short() {
		t.Skip("opens hundreds of connections")
	}
	const maxPerConnection = 512 << 10
	connections := 500
	if os.Getenv("TARE_SOAK") != "" {
		connections = 10_000
	}
	addr, _ := startServer(t)
	debug.FreeOSMemory()
	before, ok := machine.Resident(os.Getpid())
	if !ok {
		t.Skip("this system does not tell the memory of a process")
	}
	o := options(addr)
	o.Connections, o.Carry, o.Timeout = connections, Carry(connections), 10*time.Minute // of all handshakes
	s, err := load.Open(o)
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	r, err := s.Run(t.Context(), load.Leg{Ops: int64(3 * connections)})
	if err != nil || r.Requests == 0 || r.Opened < int64(connections) { // a machine that is busy may lose some, which are replaced
		t.Fatalf("%v: %d answered, %v, %d connections: %s", err, r.Requests, r.Errors, r.Opened, r.FirstError)
	}
	after, _ := machine.Resident(os.Getpid())
	perConnection := (after - before) / int64(connections)
	t.Logf("%d connections: %d MB resident, %d kB a connection", connections, after/1e6, perConnection/1e3)
	if perConnection > maxPerConnection {
		t.Errorf("%d bytes a connection", perConnection)
	}
}
