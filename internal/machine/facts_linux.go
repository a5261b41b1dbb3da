package machine

import (
	"os"
	"strings"
)

// kernelVersion returns a release such as 6.8.0-31-generic, or "".
func kernelVersion() string { return firstLine("/proc/sys/kernel/osrelease") }

// cpuModel returns the name of the processor. If the kernel has none, as on arm64, it returns the
// model in the device tree or the codes that identify the processor.
func cpuModel() string {
	b, err := os.ReadFile("/proc/cpuinfo")
	if err != nil {
		return ""
	}
	fields := map[string]string{} // describes the first processor
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

// totalMemory returns the machine's memory in bytes, or 0 if unknown.
func totalMemory() int64 {
	table, _ := os.ReadFile("/proc/meminfo") // empty after an error
	total, _ := meminfoField(string(table), "MemTotal")
	return total
}

// firstLine returns the first line of a file, or "" if it cannot be read.
func firstLine(file string) string {
	b, err := os.ReadFile(file)
	if err != nil {
		return ""
	}
	line, _, _ := strings.Cut(string(b), "\n")
	return strings.TrimSpace(line)
}
