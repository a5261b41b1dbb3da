//go:build !unix && !windows

package load

import (
	"net"
	"time"
)

// processCPU is not known here.
func processCPU() time.Duration { return 0 }

// probe would ask a connection for news, which here takes waiting.
type probe struct{}

func newProbe(*net.TCPConn) (*probe, error) { return &probe{}, nil }

func (*probe) pending() (n int, closed bool) { return 0, false }
