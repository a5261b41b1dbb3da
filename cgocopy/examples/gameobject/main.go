//go:build cgo

// Gameobject fills structs that this program declares from a C array, several times. Only the first copy
// into a slice allocates.
package main

// #include "game.h"
import "C"

import (
	"fmt"
	"os"
	"testing"
	"unsafe"
)

//go:generate go run ../../cmd/cgocopy bind -build cgo -type Object=GameObject game.h

// Kind is the kind of an object.
type Kind int

// The kinds, in the order of the C enum.
const (
	NPC Kind = iota
	Player
	Boss
)

// Vector is a position, or the movement in a tick.
type Vector struct{ X, Y, Z float64 }

// Object is filled from a GameObject. Its numbers are wider than in C, and its field Move has another name
// than the C member.
type Object struct {
	ID       int
	Name     string
	Position Vector
	Move     Vector `cgocopy:"velocity"`
	Health   float64
	Level    int
	Kind     Kind
	Visible  bool

	selected bool // not in C: copies do not change it
}

func main() {
	var n C.int
	world := unsafe.Pointer(C.world(&n))
	var objects []Object
	read := func() {
		var err error
		if objects, err = ObjectsFromC(objects, world, int(n)); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
	}
	read()
	objects[0].selected = true
	for range 3 {
		C.tick()
		read()
	}
	for _, o := range objects {
		fmt.Fprintf(os.Stdout, "%d %s at %v, health %v, level %d, kind %d, visible %t, selected %t\n", o.ID, o.Name, o.Position, o.Health, o.Level, o.Kind, o.Visible, o.selected)
	}
	fmt.Fprintf(os.Stdout, "%d bytes each in C; a copy into the same slice allocates %v times\n", SizeofObject, testing.AllocsPerRun(100, read))
}
