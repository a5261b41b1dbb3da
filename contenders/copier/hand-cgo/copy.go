package main

/*
#cgo CFLAGS: -I${SRCDIR}/../../../contender/copier/cmem
#include "fixtures.h"
#include <string.h>
*/
import "C"

import (
	"unsafe"

	"github.com/tarebench/tare/contender/copier"
)

// In this file copyPerson and the like copy the C value at p into dst. Those with a plural, such as
// copyPersons, copy an array of n values. If dst is nil they make a new slice.

// readText returns the text of a char[64] up to its NUL, or all 64 characters. C.GoString alone would read
// beyond an array without a NUL.
func readText(chars *[64]C.char) string {
	if chars[63] == 0 { // the array has a NUL
		return C.GoString(&chars[0])
	}
	return C.GoStringN(&chars[0], C.int(C.strnlen(&chars[0], 64)))
}

func copyPerson(dst *copier.Person, p unsafe.Pointer) error {
	c := (*C.BenchPerson)(p)
	dst.ID = int32(c.id)
	dst.Name = readText(&c.name)
	dst.Balance = float64(c.balance)
	dst.Active = int32(c.active)
	return nil
}

func copyPersons(dst []copier.Person, p unsafe.Pointer, n int) ([]copier.Person, error) {
	if dst == nil {
		dst = make([]copier.Person, n)
	}
	list := unsafe.Slice((*C.BenchPerson)(p), n)
	for i := range list {
		if err := copyPerson(&dst[i], unsafe.Pointer(&list[i])); err != nil {
			return nil, err
		}
	}
	return dst, nil
}

func toPoint(c *C.Point3D) copier.Point3D {
	return copier.Point3D{X: float64(c.x), Y: float64(c.y), Z: float64(c.z)}
}

func copyObject(dst *copier.GameObject, p unsafe.Pointer) error {
	c := (*C.GameObject)(p)
	dst.ID = int32(c.id)
	dst.Name = readText(&c.name)
	dst.Position = toPoint(&c.position)
	dst.Velocity = toPoint(&c.velocity)
	dst.Health = float32(c.health)
	dst.Level = int32(c.level)
	return nil
}

func copyObjects(dst []copier.GameObject, p unsafe.Pointer, n int) ([]copier.GameObject, error) {
	if dst == nil {
		dst = make([]copier.GameObject, n)
	}
	list := unsafe.Slice((*C.GameObject)(p), n)
	for i := range list {
		if err := copyObject(&dst[i], unsafe.Pointer(&list[i])); err != nil {
			return nil, err
		}
	}
	return dst, nil
}

func copyAudio(dst *copier.AudioBuffer, p unsafe.Pointer) error {
	c := (*C.AudioBuffer)(p)
	for i := range c.samples {
		dst.Samples[i] = float32(c.samples[i])
	}
	dst.Rate = int32(c.rate)
	dst.Channels = int32(c.channels)
	return nil
}

func copyAudios(dst []copier.AudioBuffer, p unsafe.Pointer, n int) ([]copier.AudioBuffer, error) {
	if dst == nil {
		dst = make([]copier.AudioBuffer, n)
	}
	list := unsafe.Slice((*C.AudioBuffer)(p), n)
	for i := range list {
		if err := copyAudio(&dst[i], unsafe.Pointer(&list[i])); err != nil {
			return nil, err
		}
	}
	return dst, nil
}

// copyDevices follows the pointers of a DeviceList. It reuses the slices of an earlier copy.
func copyDevices(dst *copier.DeviceList, p unsafe.Pointer) error {
	c := (*C.DeviceList)(p)
	dst.Owner = C.GoString(c.owner)
	if dst.Devices == nil {
		dst.Devices = make([]copier.Device, c.count)
	}
	list := unsafe.Slice(c.devices, c.count)
	for i := range list {
		d := &list[i]
		dst.Devices[i] = copier.Device{ID: int32(d.id), Name: C.GoString(d.name), Reading: float64(d.reading)}
	}
	if dst.Tags == nil {
		dst.Tags = make([]int32, c.tag_count)
	}
	for i, tag := range unsafe.Slice(c.tags, c.tag_count) {
		dst.Tags[i] = int32(tag)
	}
	return nil
}
