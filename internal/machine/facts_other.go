//go:build !linux && !darwin

package machine

import "os"

func kernel() string { return "" }

func cpuModel() string { return os.Getenv("PROCESSOR_IDENTIFIER") } // set on Windows

func memory() int64 { return 0 }
