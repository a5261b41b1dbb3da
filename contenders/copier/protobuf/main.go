// Command protobuf is a round trip through google.golang.org/protobuf with
// generated code: a plain struct becomes a message, bytes, a message and a
// plain struct again. It starts from a Go value, not from C memory.
package main

import (
	"unsafe"

	"google.golang.org/protobuf/proto"

	"github.com/tarebench/tare/contender/copier"
	"github.com/tarebench/tare/contenders/copier/protobuf/model"
)

func main() {
	copier.Main(copier.Impl{Types: map[string]copier.Copies{
		"BenchPerson": copier.Of(copier.Type[copier.Person]{Fill: person}),
		"GameObject":  copier.Of(copier.Type[copier.GameObject]{Fill: object, Slice: objects}),
		"AudioBuffer": copier.Of(copier.Type[copier.AudioBuffer]{Fill: audio}),
	}})
}

// trip takes a message through bytes into another.
func trip(from, into proto.Message) error {
	b, err := proto.Marshal(from)
	if err != nil {
		return err
	}
	return proto.Unmarshal(b, into)
}

func person(dst *copier.Person, p unsafe.Pointer) error {
	v := (*copier.Person)(p)
	var back model.Person
	if err := trip(&model.Person{Id: v.ID, Name: []byte(v.Name), Balance: v.Balance, Active: v.Active}, &back); err != nil {
		return err
	}
	*dst = copier.Person{ID: back.GetId(), Name: string(back.GetName()), Balance: back.GetBalance(), Active: back.GetActive()}
	return nil
}

func object(dst *copier.GameObject, p unsafe.Pointer) error {
	var back model.GameObject
	if err := trip(message((*copier.GameObject)(p)), &back); err != nil {
		return err
	}
	*dst = plain(&back)
	return nil
}

func objects(dst []copier.GameObject, p unsafe.Pointer, n int) ([]copier.GameObject, error) {
	from := &model.GameObjects{Objects: make([]*model.GameObject, n)}
	list := unsafe.Slice((*copier.GameObject)(p), n)
	for i := range list {
		from.Objects[i] = message(&list[i])
	}
	var back model.GameObjects
	if err := trip(from, &back); err != nil {
		return nil, err
	}
	if dst == nil {
		dst = make([]copier.GameObject, n)
	}
	for i, m := range back.GetObjects() {
		dst[i] = plain(m)
	}
	return dst, nil
}

func message(v *copier.GameObject) *model.GameObject {
	point := func(p copier.Point3D) *model.Point3D { return &model.Point3D{X: p.X, Y: p.Y, Z: p.Z} }
	return &model.GameObject{
		Id: v.ID, Name: []byte(v.Name), Position: point(v.Position), Velocity: point(v.Velocity), Health: v.Health, Level: v.Level,
	}
}

func plain(m *model.GameObject) copier.GameObject {
	point := func(p *model.Point3D) copier.Point3D {
		return copier.Point3D{X: p.GetX(), Y: p.GetY(), Z: p.GetZ()}
	}
	return copier.GameObject{
		ID: m.GetId(), Name: string(m.GetName()), Position: point(m.GetPosition()), Velocity: point(m.GetVelocity()),
		Health: m.GetHealth(), Level: m.GetLevel(),
	}
}

func audio(dst *copier.AudioBuffer, p unsafe.Pointer) error {
	v := (*copier.AudioBuffer)(p)
	var back model.AudioBuffer
	if err := trip(&model.AudioBuffer{Samples: v.Samples[:], Rate: v.Rate, Channels: v.Channels}, &back); err != nil {
		return err
	}
	copy(dst.Samples[:], back.GetSamples())
	dst.Rate, dst.Channels = back.GetRate(), back.GetChannels()
	return nil
}
