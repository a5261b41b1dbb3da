//go:build cgo

// Devicelist calls a C function that makes a list, and has a Go slice instead:
// texts, numbers behind pointers and all. The list is given back to C.
package main

// #include "devices.h"
import "C"

import (
	"fmt"
	"os"
	"unsafe"

	"github.com/tarebench/tare/cgocopy"
)

//go:generate go run ../../cmd/cgocopy gen -build cgo -type device -tag device.gains=,len=gains_count,max=64 devices.h

// ListDevices are the devices there are. Nothing of them is left in C.
func ListDevices() ([]Device, error) {
	var list *C.struct_device
	var n C.int
	if code := C.list_devices(&list, &n); code != 0 {
		return nil, fmt.Errorf("list_devices: error %d", code)
	}
	defer C.free_devices(list, n)
	return cgocopy.CopySlice[Device](unsafe.Pointer(list), int(n))
}

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
