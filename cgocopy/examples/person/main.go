//go:build cgo

// Person copies one C struct into a Go value.
package main

// #include "person.h"
import "C"

import (
	"fmt"
	"os"
	"unsafe"

	"github.com/tarebench/tare/cgocopy"
)

//go:generate go run ../../cmd/cgocopy gen -build cgo -type Person person.h

func main() {
	for _, id := range []C.int{7, 8, 9} {
		p, err := cgocopy.Copy[Person](unsafe.Pointer(C.find_person(id)))
		if err != nil {
			fmt.Fprintf(os.Stdout, "%d: %v\n", id, err)
			continue
		}
		fmt.Fprintf(os.Stdout, "%d: %s, %d years, %.2f m, active %t\n", p.ID, p.Name, p.Age, p.Height, p.Active)
	}
}
