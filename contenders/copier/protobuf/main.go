// Command protobuf copies by a round trip through google.golang.org/protobuf with generated code. It
// converts a plain struct into a message, encodes and decodes it, and converts it back. It starts from a Go
// value, not from C memory.
package main

import (
	"unsafe"

	"google.golang.org/protobuf/proto"

	"github.com/tarebench/tare/contender/copier"
	"github.com/tarebench/tare/contenders/copier/protobuf/model"
)

func main() {
	copier.Main(copier.Impl{Types: map[string]copier.Copies{
		"BenchPerson": copier.Of(copier.Type[copier.Person]{Fill: copyPerson}),
		"GameObject":  copier.Of(copier.Type[copier.GameObject]{Fill: copyObject, Slice: copyObjects}),
		"AudioBuffer": copier.Of(copier.Type[copier.AudioBuffer]{Fill: copyAudio}),
	}})
}

func roundTrip(src, dst proto.Message) error {
	b, err := proto.Marshal(src)
	if err != nil {
		return err
	}
	return proto.Unmarshal(b, dst)
}

// copyPerson copies the Go value at p. copyObject and copyAudio do the same for their types; copyObjects
// copies n values.
func copyPerson(dst *copier.Person, p unsafe.Pointer) error {
	v := (*copier.Person)(p)
	var decoded model.Person
	if err := roundTrip(&model.Person{Id: v.ID, Name: []byte(v.Name), Balance: v.Balance, Active: v.Active}, &decoded); err != nil {
		return err
	}
	*dst = copier.Person{ID: decoded.GetId(), Name: string(decoded.GetName()), Balance: decoded.GetBalance(), Active: decoded.GetActive()}
	return nil
}

func copyObject(dst *copier.GameObject, p unsafe.Pointer) error {
	var decoded model.GameObject
	if err := roundTrip(toMessage((*copier.GameObject)(p)), &decoded); err != nil {
		return err
	}
	*dst = fromMessage(&decoded)
	return nil
}

func copyObjects(dst []copier.GameObject, p unsafe.Pointer, n int) ([]copier.GameObject, error) {
	src := &model.GameObjects{Objects: make([]*model.GameObject, n)}
	list := unsafe.Slice((*copier.GameObject)(p), n)
	for i := range list {
		src.Objects[i] = toMessage(&list[i])
	}
	var decoded model.GameObjects
	if err := roundTrip(src, &decoded); err != nil {
		return nil, err
	}
	if dst == nil {
		dst = make([]copier.GameObject, n)
	}
	for i, m := range decoded.GetObjects() {
		dst[i] = fromMessage(m)
	}
	return dst, nil
}

// toMessage converts an object to a message. Its texts are bytes: they need not be UTF-8.
func toMessage(v *copier.GameObject) *model.GameObject {
	point := func(p copier.Point3D) *model.Point3D { return &model.Point3D{X: p.X, Y: p.Y, Z: p.Z} }
	return &model.GameObject{
		Id: v.ID, Name: []byte(v.Name), Position: point(v.Position), Velocity: point(v.Velocity), Health: v.Health, Level: v.Level,
	}
}

// fromMessage is the reverse of toMessage.
func fromMessage(m *model.GameObject) copier.GameObject {
	point := func(p *model.Point3D) copier.Point3D {
		return copier.Point3D{X: p.GetX(), Y: p.GetY(), Z: p.GetZ()}
	}
	return copier.GameObject{
		ID: m.GetId(), Name: string(m.GetName()), Position: point(m.GetPosition()), Velocity: point(m.GetVelocity()),
		Health: m.GetHealth(), Level: m.GetLevel(),
	}
}

func copyAudio(dst *copier.AudioBuffer, p unsafe.Pointer) error {
	v := (*copier.AudioBuffer)(p)
	var decoded model.AudioBuffer
	if err := roundTrip(&model.AudioBuffer{Samples: v.Samples[:], Rate: v.Rate, Channels: v.Channels}, &decoded); err != nil {
		return err
	}
	copy(dst.Samples[:], decoded.GetSamples())
	dst.Rate, dst.Channels = decoded.GetRate(), decoded.GetChannels()
	return nil
}
