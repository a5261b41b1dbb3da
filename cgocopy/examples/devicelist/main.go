//go:build cgo

// Devicelist calls a C function that returns a list, and gets a Go slice with copies of its texts and
// numbers. The function ListDevices is generated. It always frees the C list.
package main

// #include "devices.h"
import "C"

import (
	"fmt"
	"os"
)

//go:generate go run ../../cmd/cgocopy gen -build cgo -type device -tag device.gains=,len=gains_count,max=64 -func "list_devices(out, len) error free=free_devices(out,len)" devices.h

func main() {
	devices, err := ListDevices()
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	for _, d := range devices {
		fmt.Fprintf(os.Stdout, "%q %q gains %v\n", d.Serial, d.Label, d.Gains)
	}
	fmt.Fprintf(os.Stdout, "%d lists not given back\n", C.lists_alive())
}
