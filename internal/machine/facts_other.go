//go:build !linux && !darwin

package machine

import "os"

func kernelVersion() string { return "" }

func cpuModel() string { return os.Getenv("PROCESSOR_IDENTIFIER") } // set on Windows

func totalMemory() int64 { return 0 }
