package services

import (
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"time"
)

// confined is a control group of memory that a service was moved into.
type confined struct {
	dir, peak string // peak is the file with the most bytes that were used
}

// confine gives the processes of the service mostMemory bytes together, where this user
// may make a control group. It returns nil elsewhere.
func (s *service) confine() *confined {
	for _, c := range []struct{ top, limit, peak string }{
		{"/sys/fs/cgroup/memory", "memory.limit_in_bytes", "memory.max_usage_in_bytes"},
		{"/sys/fs/cgroup", "memory.max", "memory.peak"},
	} {
		dir := filepath.Join(c.top, fmt.Sprintf("tare-test-%d", s.cmd.Process.Pid))
		if os.Mkdir(dir, 0o755) != nil {
			continue
		}
		g := &confined{dir: dir, peak: filepath.Join(dir, c.peak)}
		s.t.Cleanup(func() {
			s.end()
			for range 100 { // it is busy until its processes have gone
				if syscall.Rmdir(dir) == nil {
					return
				}
				time.Sleep(50 * time.Millisecond)
			}
			s.t.Errorf("%s is left", dir)
		})
		err := os.WriteFile(filepath.Join(dir, c.limit), []byte(strconv.Itoa(mostMemory)), 0)
		s.walk(s.cmd.Process.Pid, func(pid int) {
			if err == nil {
				err = os.WriteFile(filepath.Join(dir, "cgroup.procs"), []byte(strconv.Itoa(pid)), 0)
			}
		})
		if err != nil {
			s.t.Logf("no control group: %v", err)
			return nil
		}
		return g
	}
	return nil
}

// String tells the most that the group has used.
func (g *confined) String() string {
	if g == nil {
		return "without a control group"
	}
	text, _ := os.ReadFile(g.peak) // older kernels have no memory.peak
	n, err := strconv.ParseInt(strings.TrimSpace(string(text)), 10, 64)
	if err != nil {
		return "in a control group"
	}
	return fmt.Sprintf("in a control group, at most %d MiB", n>>20)
}
