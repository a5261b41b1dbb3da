package main

import (
	flatbuffers "github.com/google/flatbuffers/go"

	"github.com/tarebench/tare/contender/copier"
)

// table reads members by their slot; one that is not there is zero.
type table struct{ flatbuffers.Table }

func root(buffer []byte) table {
	return table{flatbuffers.Table{Bytes: buffer, Pos: flatbuffers.GetUOffsetT(buffer)}}
}

// findMember returns the offset of a slot's member, and false if it is not there.
func (t *table) findMember(slot int) (flatbuffers.UOffsetT, bool) {
	o := t.Offset(flatbuffers.VOffsetT(4 + 2*slot))
	return t.Pos + flatbuffers.UOffsetT(o), o != 0
}

func (t *table) int32(slot int) int32 {
	if at, ok := t.findMember(slot); ok {
		return t.GetInt32(at)
	}
	return 0
}

func (t *table) float32(slot int) float32 {
	if at, ok := t.findMember(slot); ok {
		return t.GetFloat32(at)
	}
	return 0
}

func (t *table) float64(slot int) float64 {
	if at, ok := t.findMember(slot); ok {
		return t.GetFloat64(at)
	}
	return 0
}

// text is a copy: the buffer is used again.
func (t *table) text(slot int) string {
	if at, ok := t.findMember(slot); ok {
		return string(t.ByteVector(at))
	}
	return ""
}

func (t *table) point(slot int) copier.Point3D {
	at, ok := t.findMember(slot)
	if !ok {
		return copier.Point3D{}
	}
	return copier.Point3D{X: t.GetFloat64(at), Y: t.GetFloat64(at + 8), Z: t.GetFloat64(at + 16)}
}

func (t *table) object() copier.GameObject {
	return copier.GameObject{
		ID: t.int32(0), Name: t.text(1), Position: t.point(2), Velocity: t.point(3), Health: t.float32(4), Level: t.int32(5),
	}
}
