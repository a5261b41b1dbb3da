package machine

import (
	"encoding/binary"
	"syscall"
)

func kernelVersion() string { return readSysctl("kern.osrelease") }

func cpuModel() string { return readSysctl("machdep.cpu.brand_string") }

// totalMemory returns the machine's memory in bytes, or 0 if unknown. syscall.Sysctl reads the eight
// bytes of the number like a string and drops a zero byte at the end. totalMemory adds it again.
func totalMemory() int64 {
	b := []byte(readSysctl("hw.memsize"))
	if len(b) == 0 || len(b) > 8 {
		return 0
	}
	return int64(binary.LittleEndian.Uint64(append(b, make([]byte, 8-len(b))...)))
}

// readSysctl returns the text of a kernel variable, or "" if it cannot be read.
func readSysctl(name string) string {
	v, err := syscall.Sysctl(name)
	if err != nil {
		return ""
	}
	return v
}
