// Command flatbuffers is a round trip through a FlatBuffers buffer: a plain
// struct is built into one, and made again of what accessors read in place. It
// starts from a Go value, not from C memory.
package main

import (
	"unsafe"

	flatbuffers "github.com/google/flatbuffers/go"

	"github.com/tarebench/tare/contender/copier"
)

func main() {
	c := &codec{flatbuffers.NewBuilder(1024)}
	copier.Main(copier.Impl{Types: map[string]copier.Copies{
		"BenchPerson": copier.Of(copier.Type[copier.Person]{Fill: c.person}),
		"GameObject":  copier.Of(copier.Type[copier.GameObject]{Fill: c.object, Slice: c.objects}),
	}})
}

// codec holds the builder, which is meant to be used again.
type codec struct{ *flatbuffers.Builder }

func (c *codec) person(dst *copier.Person, p unsafe.Pointer) error {
	v := (*copier.Person)(p)
	c.Reset()
	name := c.CreateString(v.Name)
	c.StartObject(4)
	c.PrependFloat64Slot(2, v.Balance, 0)
	c.PrependUOffsetTSlot(1, name, 0)
	c.PrependInt32Slot(0, v.ID, 0)
	c.PrependInt32Slot(3, v.Active, 0)
	c.Finish(c.EndObject())
	t := root(c.FinishedBytes())
	*dst = copier.Person{ID: t.int32(0), Name: t.text(1), Balance: t.float64(2), Active: t.int32(3)}
	return nil
}

func (c *codec) object(dst *copier.GameObject, p unsafe.Pointer) error {
	c.Reset()
	c.Finish(c.build((*copier.GameObject)(p)))
	t := root(c.FinishedBytes())
	*dst = t.object()
	return nil
}

func (c *codec) objects(dst []copier.GameObject, p unsafe.Pointer, n int) ([]copier.GameObject, error) {
	c.Reset()
	list := unsafe.Slice((*copier.GameObject)(p), n)
	offsets := make([]flatbuffers.UOffsetT, n)
	for i := range list {
		offsets[i] = c.build(&list[i])
	}
	c.StartVector(flatbuffers.SizeUOffsetT, n, flatbuffers.SizeUOffsetT)
	for i := n - 1; i >= 0; i-- {
		c.PrependUOffsetT(offsets[i])
	}
	vector := c.EndVector(n)
	c.StartObject(1)
	c.PrependUOffsetTSlot(0, vector, 0)
	c.Finish(c.EndObject())
	t := root(c.FinishedBytes())
	at := flatbuffers.UOffsetT(t.Offset(4))
	if dst == nil {
		dst = make([]copier.GameObject, t.VectorLen(at))
	}
	first := t.Vector(at)
	for i := range dst {
		e := table{flatbuffers.Table{Bytes: t.Bytes, Pos: t.Indirect(first + flatbuffers.UOffsetT(i*flatbuffers.SizeUOffsetT))}}
		dst[i] = e.object()
	}
	return dst, nil
}

// build is an object in the buffer. Points are structs, which lie in line.
func (c *codec) build(v *copier.GameObject) flatbuffers.UOffsetT {
	name := c.CreateString(v.Name)
	c.StartObject(6)
	c.PrependInt32Slot(5, v.Level, 0)
	c.PrependFloat32Slot(4, v.Health, 0)
	c.PrependStructSlot(3, c.point(v.Velocity), 0)
	c.PrependStructSlot(2, c.point(v.Position), 0)
	c.PrependUOffsetTSlot(1, name, 0)
	c.PrependInt32Slot(0, v.ID, 0)
	return c.EndObject()
}

func (c *codec) point(p copier.Point3D) flatbuffers.UOffsetT {
	c.Prep(8, 24)
	c.PrependFloat64(p.Z)
	c.PrependFloat64(p.Y)
	c.PrependFloat64(p.X)
	return c.Offset()
}
