package machine

import (
	"context"
	"runtime"

	"github.com/tarebench/tare"
)

// Facts describes this machine and its facilities. It does not record noise: a [Gauge] measures it.
// It takes a few milliseconds; once ctx has ended it omits the rest of the facilities.
func Facts(ctx context.Context) tare.Machine {
	m := tare.Machine{
		OS:     runtime.GOOS,
		Arch:   runtime.GOARCH,
		Kernel: kernelVersion(),
		CPU:    cpuModel(),
		Cores:  runtime.NumCPU(),
		Memory: totalMemory(),
		Go:     runtime.Version(),
		Noise:  tare.Noise{CPUPressure: -1, RunQueueWait: -1, Throttled: -1},
	}
	for _, p := range facilityProbes() {
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
