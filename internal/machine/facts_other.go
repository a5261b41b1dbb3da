//go:build !linux && !darwin

package machine

import "os"

// kernelVersion is unknown on this system.
func kernelVersion() string { return "" }

// cpuModel uses a variable of Windows.
func cpuModel() string { return os.Getenv("PROCESSOR_IDENTIFIER") }

// totalMemory is unknown on this system.
func totalMemory() int64 { return 0 }
