package machine

import (
	"context"
	"runtime"

	"github.com/tarebench/tare"
)

// Facts says what this machine is and what it can tell. Noise is not
// recorded: a [Gauge] measures it. Looking takes a few milliseconds; a ctx
// that has ended leaves the rest of the facilities out.
func Facts(ctx context.Context) tare.Machine {
	m := tare.Machine{
		OS:     runtime.GOOS,
		Arch:   runtime.GOARCH,
		Kernel: kernel(),
		CPU:    cpuModel(),
		Cores:  runtime.NumCPU(),
		Memory: memory(),
		Go:     runtime.Version(),
		Noise:  tare.Noise{CPUPressure: -1, RunQueueWait: -1, Throttled: -1},
	}
	for _, p := range probes() {
		if ctx.Err() != nil {
			break
		}
		found, note := p.look()
		m.Facilities = append(m.Facilities, tare.Facility{Name: p.name, Found: found, Note: note})
	}
	return m
}

// probe finds out whether the machine has one facility.
type probe struct {
	name string
	look func() (found bool, note string)
}
