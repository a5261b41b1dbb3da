//go:build !unix && !windows

package load

import (
	"net"
	"time"
)

// processCPU is not known here.
func processCPU() time.Duration { return 0 }

// pending cannot be known here without waiting.
func pending(*net.TCPConn) (n int, closed bool) { return 0, false }
