package load

import (
	"context"
	"os"
	"runtime/debug"
	"testing"
	"time"

	"github.com/tarebench/tare/internal/assert"
	"github.com/tarebench/tare/internal/machine"
)

// A connection costs at most 64 KiB of resident memory, with each engine and protocol. A request allocates nothing on so
// many connections either, once each connection has made room for what a server of HTTP/2 has it remember. The test logs the memory of the process with all connections open: 1,000, or
// 10,000 with TARE_SOAK.
func TestMemoryOfConnections(t *testing.T) {
	if testing.Short() {
		t.Skip("opens thousands of connections")
	}
	const maxPerConnection = 64 << 10
	connections := 1000
	if os.Getenv("TARE_SOAK") != "" {
		connections = 10_000
	}
	plain, _ := elsewhere(t, HTTP1)
	standard, _ := elsewhere(t, H2C)
	for _, w := range everyProtocol(append(loops(t), Portable)) {
		t.Run(w.String(), func(t *testing.T) {
			addr := plain
			if w.protocol != HTTP1 {
				addr = standard
			}
			debug.FreeOSMemory()
			before, ok := machine.Resident(os.Getpid())
			if !ok {
				t.Skip("this system does not tell the memory of a process")
			}
			s, err := Open(Options{
				Target: Target{Addr: addr}, Requests: []Request{{Method: "POST", Path: "/", Body: []byte("number 0000000000")}},
				Engine: w.engine, Protocol: w.protocol, Connections: connections, Timeout: time.Minute,
			})
			assert.NoError(t, "open", err)
			defer s.Close()
			leg := Leg{Lead: int64(40 * connections), Ops: int64(40 * connections)}
			if connections == 1000 {
				allocates(t, s, leg, 0.5) // not steady: each connection remembers a date anew each second
			} else {
				_, err := s.Run(context.Background(), leg)
				assert.NoError(t, "run", err)
			}
			if opened := s.Totals().Opened; opened < int64(connections) { // a server that is busy may close some, which are replaced
				t.Errorf("%d connections of %d", opened, connections)
			}
			after, _ := machine.Resident(os.Getpid())
			perConnection := (after - before) / int64(connections)
			t.Logf("%d connections: %d MB resident, %d kB a connection", connections, after/1e6, perConnection/1e3)
			if !raced && perConnection > maxPerConnection {
				t.Errorf("%d bytes a connection", perConnection)
			}
		})
	}
}
