package machine

import (
	"context"
	"runtime"
	"testing"
)

func TestFacts(t *testing.T) {
	m := Facts(t.Context())
	if m.OS != runtime.GOOS || m.Arch != runtime.GOARCH || m.Cores != runtime.NumCPU() || m.Go != runtime.Version() {
		t.Errorf("facts %+v", m)
	}
	if runtime.GOOS == "linux" && (m.Kernel == "" || m.Memory < 1<<20) {
		t.Errorf("kernel %q, memory %d B", m.Kernel, m.Memory)
	}
	if m.Noise.CPUPressure >= 0 || m.Noise.RunQueueWait >= 0 || m.Noise.Throttled >= 0 {
		t.Errorf("noise %+v, though none was measured", m.Noise)
	}
	seen := map[string]bool{}
	for _, f := range m.Facilities {
		if f.Name == "" || seen[f.Name] {
			t.Errorf("facility %q without a name, or twice", f.Name)
		}
		seen[f.Name] = true
	}
	for _, name := range []string{ChildGroup, KillGroup, MemoryController, CPUPressure, RunQueue, Throttling, HardwareCounters, Affinity, TaggedProcesses} {
		if !seen[name] {
			t.Errorf("nothing is said of %s", name)
		}
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if m := Facts(ctx); len(m.Facilities) > 0 || m.Cores == 0 {
		t.Errorf("with an ended context: %+v", m)
	}
}
