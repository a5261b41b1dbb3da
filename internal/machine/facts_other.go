//go:build !linux && !darwin

package machine

import "os"

// kernelVersion returns "": the version is unknown on this system.
func kernelVersion() string { return "" }

// cpuModel returns the name of the processor, which Windows has in the environment, or "".
func cpuModel() string { return os.Getenv("PROCESSOR_IDENTIFIER") }

// totalMemory returns 0: the size is unknown on this system.
func totalMemory() int64 { return 0 }
