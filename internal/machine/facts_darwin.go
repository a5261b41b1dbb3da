package machine

import (
	"encoding/binary"
	"syscall"
)

func kernel() string { return sysctl("kern.osrelease") }

func cpuModel() string { return sysctl("machdep.cpu.brand_string") }

// memory is what the machine has, in bytes. Sysctl reads a string and drops
// a trailing zero byte, so a number has to be filled up again.
func memory() int64 {
	b := []byte(sysctl("hw.memsize"))
	if len(b) == 0 || len(b) > 8 {
		return 0
	}
	return int64(binary.LittleEndian.Uint64(append(b, make([]byte, 8-len(b))...)))
}

func sysctl(name string) string {
	v, err := syscall.Sysctl(name)
	if err != nil {
		return ""
	}
	return v
}
