// Command flatbuffers copies by a round trip through a FlatBuffers buffer. It writes a plain struct into a
// buffer, and reads a new struct from it. It starts from a Go value, not from C memory.
package main

import (
	"unsafe"

	flatbuffers "github.com/google/flatbuffers/go"

	"github.com/tarebench/tare/contender/copier"
)

func main() {
	c := &codec{flatbuffers.NewBuilder(1024)}
	copier.Main(copier.Impl{Types: map[string]copier.Copies{
		"BenchPerson": copier.Of(copier.Type[copier.Person]{Fill: c.copyPerson}),
		"GameObject":  copier.Of(copier.Type[copier.GameObject]{Fill: c.copyObject, Slice: c.copyObjects}),
	}})
}

// codec writes into one builder, which it resets for each copy. A struct becomes a table: the slot of a
// member is its position.
type codec struct{ *flatbuffers.Builder }

// copyPerson copies the Go value at p.
func (c *codec) copyPerson(dst *copier.Person, p unsafe.Pointer) error {
	v := (*copier.Person)(p)
	c.Reset()
	name := c.CreateString(v.Name)
	c.StartObject(4)
	c.PrependFloat64Slot(2, v.Balance, 0)
	c.PrependUOffsetTSlot(1, name, 0)
	c.PrependInt32Slot(0, v.ID, 0)
	c.PrependInt32Slot(3, v.Active, 0)
	c.Finish(c.EndObject())
	t := rootTable(c.FinishedBytes())
	*dst = copier.Person{ID: t.int32(0), Name: t.text(1), Balance: t.float64(2), Active: t.int32(3)}
	return nil
}

// copyObject copies the Go value at p.
func (c *codec) copyObject(dst *copier.GameObject, p unsafe.Pointer) error {
	c.Reset()
	c.Finish(c.buildObject((*copier.GameObject)(p)))
	t := rootTable(c.FinishedBytes())
	*dst = t.object()
	return nil
}

// copyObjects copies the n Go values at p, as the vector in slot 0 of a root table.
func (c *codec) copyObjects(dst []copier.GameObject, p unsafe.Pointer, n int) ([]copier.GameObject, error) {
	c.Reset()
	list := unsafe.Slice((*copier.GameObject)(p), n)
	offsets := make([]flatbuffers.UOffsetT, n)
	for i := range list {
		offsets[i] = c.buildObject(&list[i])
	}
	c.StartVector(flatbuffers.SizeUOffsetT, n, flatbuffers.SizeUOffsetT)
	for i := n - 1; i >= 0; i-- { // a buffer grows towards its start
		c.PrependUOffsetT(offsets[i])
	}
	vector := c.EndVector(n)
	c.StartObject(1)
	c.PrependUOffsetTSlot(0, vector, 0)
	c.Finish(c.EndObject())
	t := rootTable(c.FinishedBytes())
	field := flatbuffers.UOffsetT(t.Offset(slotOffset(0)))
	if dst == nil {
		dst = make([]copier.GameObject, t.VectorLen(field))
	}
	first := t.Vector(field)
	for i := range dst {
		element := first + flatbuffers.UOffsetT(i*flatbuffers.SizeUOffsetT)
		e := table{flatbuffers.Table{Bytes: t.Bytes, Pos: t.Indirect(element)}}
		dst[i] = e.object()
	}
	return dst, nil
}

func (c *codec) buildObject(v *copier.GameObject) flatbuffers.UOffsetT {
	name := c.CreateString(v.Name)
	c.StartObject(6)
	c.PrependInt32Slot(5, v.Level, 0)
	c.PrependFloat32Slot(4, v.Health, 0)
	c.PrependStructSlot(3, c.buildPoint(v.Velocity), 0)
	c.PrependStructSlot(2, c.buildPoint(v.Position), 0)
	c.PrependUOffsetTSlot(1, name, 0)
	c.PrependInt32Slot(0, v.ID, 0)
	return c.EndObject()
}

// buildPoint writes a point as a struct of three float64, a part of the object's table.
func (c *codec) buildPoint(p copier.Point3D) flatbuffers.UOffsetT {
	c.Prep(8, 24) // alignment and size in bytes
	c.PrependFloat64(p.Z)
	c.PrependFloat64(p.Y)
	c.PrependFloat64(p.X)
	return c.Offset()
}
