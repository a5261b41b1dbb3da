//go:build !linux && !darwin

package machine

import "os"

// kernelVersion returns "" for unknown.
func kernelVersion() string { return "" }

// cpuModel returns the name of the processor, which Windows has in the environment, or "".
func cpuModel() string { return os.Getenv("PROCESSOR_IDENTIFIER") }

// totalMemory returns 0 for unknown.
func totalMemory() int64 { return 0 }
