package machine

import (
	"context"
	"runtime"

	"github.com/tarebench/tare"
)

// probe detects one facility, a feature of the machine.
type probe struct {
	name   string
	detect func() (found bool, note string)
}

// Facts describes this machine and the features that matter to measurements. It takes a few
// milliseconds. If ctx ends, it omits the remaining features. The fields of Noise are -1, which means
// unknown: a [Gauge] measures them.
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
		found, note := p.detect()
		m.Facilities = append(m.Facilities, tare.Facility{Name: p.name, Found: found, Note: note})
	}
	return m
}
