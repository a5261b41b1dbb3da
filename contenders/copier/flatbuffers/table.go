package main

import (
	flatbuffers "github.com/google/flatbuffers/go"

	"github.com/tarebench/tare/contender/copier"
)

// table reads the members of a struct in a buffer by their slots. A missing member is zero.
type table struct{ flatbuffers.Table }

func rootTable(buffer []byte) table {
	return table{flatbuffers.Table{Bytes: buffer, Pos: flatbuffers.GetUOffsetT(buffer)}}
}

// slotOffset returns the offset of a slot in a vtable, which begins with two sizes of two bytes.
func slotOffset(slot int) flatbuffers.VOffsetT { return flatbuffers.VOffsetT(4 + 2*slot) }

func (t *table) findMember(slot int) (flatbuffers.UOffsetT, bool) {
	offset := t.Offset(slotOffset(slot))
	return t.Pos + flatbuffers.UOffsetT(offset), offset != 0
}

func (t *table) int32(slot int) int32 {
	if pos, ok := t.findMember(slot); ok {
		return t.GetInt32(pos)
	}
	return 0
}

func (t *table) float32(slot int) float32 {
	if pos, ok := t.findMember(slot); ok {
		return t.GetFloat32(pos)
	}
	return 0
}

func (t *table) float64(slot int) float64 {
	if pos, ok := t.findMember(slot); ok {
		return t.GetFloat64(pos)
	}
	return 0
}

// text returns a copy, because the next copy overwrites the buffer.
func (t *table) text(slot int) string {
	if pos, ok := t.findMember(slot); ok {
		return string(t.ByteVector(pos))
	}
	return ""
}

// point returns a struct of three float64.
func (t *table) point(slot int) copier.Point3D {
	pos, ok := t.findMember(slot)
	if !ok {
		return copier.Point3D{}
	}
	return copier.Point3D{X: t.GetFloat64(pos), Y: t.GetFloat64(pos + 8), Z: t.GetFloat64(pos + 16)}
}

// object returns the object in a table that buildObject has written.
func (t *table) object() copier.GameObject {
	return copier.GameObject{
		ID: t.int32(0), Name: t.text(1), Position: t.point(2), Velocity: t.point(3), Health: t.float32(4), Level: t.int32(5),
	}
}
