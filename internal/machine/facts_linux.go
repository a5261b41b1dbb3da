package machine

import (
	"os"
	"strconv"
	"strings"
)

func kernelVersion() string { return firstLine("/proc/sys/kernel/osrelease") }

// cpuModel returns the name of the processor. If the kernel has none, as on arm64, it returns the model
// in the device tree or the codes that identify the processor.
func cpuModel() string {
	b, err := os.ReadFile("/proc/cpuinfo")
	if err != nil {
		return ""
	}
	fields := map[string]string{} // of the first processor
	for line := range strings.Lines(string(b)) {
		name, value, ok := strings.Cut(line, ":")
		name = strings.TrimSpace(name)
		if _, seen := fields[name]; ok && !seen {
			fields[name] = strings.TrimSpace(value)
		}
	}
	for _, name := range []string{"model name", "cpu model", "Processor", "uarch"} {
		if v := fields[name]; v != "" {
			return v
		}
	}
	if v := strings.TrimRight(firstLine("/sys/firmware/devicetree/base/model"), "\x00"); v != "" {
		return v
	}
	if v := fields["CPU implementer"]; v != "" {
		return "implementer " + v + " part " + fields["CPU part"]
	}
	return ""
}

// totalMemory returns the machine's memory in bytes.
func totalMemory() int64 {
	b, err := os.ReadFile("/proc/meminfo")
	if err != nil {
		return 0
	}
	for line := range strings.Lines(string(b)) {
		if rest, ok := strings.CutPrefix(line, "MemTotal:"); ok {
			kib, _ := strconv.ParseInt(strings.TrimSuffix(strings.TrimSpace(rest), " kB"), 10, 64)
			return kib << 10
		}
	}
	return 0
}

// firstLine returns the first line of a file, without spaces around it, or "" if it cannot be read.
func firstLine(file string) string {
	b, err := os.ReadFile(file)
	if err != nil {
		return ""
	}
	line, _, _ := strings.Cut(string(b), "\n")
	return strings.TrimSpace(line)
}
