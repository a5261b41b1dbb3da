//go:build !linux && !darwin

package machine

import "os"

func kernelVersion() string { return "" }

// cpuModel returns the name of the processor, which Windows has in the environment, or "".
func cpuModel() string { return os.Getenv("PROCESSOR_IDENTIFIER") }

func totalMemory() int64 { return 0 }
